package handlers

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/internal/account"
	"docent/internal/answer"
	"docent/internal/config"
	"docent/internal/i18n"
	"docent/views"
)

// askedOn is the path of the page that a question comes from: as the client says,
// else as its browser does.
func (h *Handlers) askedOn(c echo.Context, page string) string {
	if page != "" {
		return page
	}
	u, err := url.Parse(c.Request().Referer())
	if err != nil || !strings.EqualFold(u.Host, c.Request().Host) && !strings.EqualFold(u.Host, h.BaseURL.Host) {
		return ""
	}
	return u.Path
}

// blockConversationURL is the address of a conversation as an Answer block shows it.
func blockConversationURL(id string, block answersBlock) string {
	query := block.query()
	if block.ID == config.SiteAnswerID {
		query.Del("block") // it is the one of addresses that name none
	}
	return conversationsURL + id + "?" + query.Encode()
}

// wayBack is where a visitor can ask anew: the page on which the first of these
// turns was asked whose page is known, else the place that the site has for it.
func (h *Handlers) wayBack(ctx context.Context, who account.Account, lang string, states ...answer.State) string {
	for _, st := range states {
		if page := ownPath(st.Page); page != "" && !strings.HasPrefix(page, conversationsURL) {
			return page
		}
	}
	return h.placeToAsk(ctx, who, lang)
}

// placeToAsk is the answers page, or the front page where no block stands on that.
func (h *Handlers) placeToAsk(ctx context.Context, who account.Account, lang string) string {
	b := &blockBuilder{h: h, ctx: ctx, who: who, lang: lang, used: map[string]int{}}
	if regions, among := b.place(answersURL, ""); isAnswersPage(regions, among) {
		return h.languagePrefix(lang) + answersURL
	}
	return h.languagePrefix(lang) + "/"
}

// isAnswersPage reports whether there is an answers page: it is there for the blocks
// in its middle and beside it.
func isAnswersPage(regions views.Blocks, among []contentBlock) bool {
	return len(among) > 0 || len(regions.Aside) > 0
}

// goOnQuestion asks for the rest of an answer that was cut off.
func goOnQuestion(lang string) string {
	ctx := i18n.WithLanguage(context.Background(), lang)
	return i18n.T(ctx, "turn.continue_question")
}

// GoesOn reports whether a question is the interface's own, in any of its
// languages, that asks for the rest of an answer that was cut off.
func GoesOn(question string) bool {
	return slices.ContainsFunc(i18n.Languages(), func(lang string) bool { return goOnQuestion(lang) == question })
}
