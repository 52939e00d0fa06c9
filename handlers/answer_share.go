package handlers

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/answer"
	"docent/internal/i18n"
	"docent/internal/markdown"
	"docent/views"
)

const sharedURL = "/ai-answers/shared/"

// sharesPerMinute is how many links one visitor may make and end.
const sharesPerMinute = 20

// shareProps are the link to a turn, or the way to make one; nil for turns that
// cannot be shared.
func (h *Handlers) shareProps(ctx context.Context, st answer.State, block answersBlock) *components.ShareProps {
	if !st.Sharable() {
		return nil
	}
	p := &components.ShareProps{ID: answer.DOMID(st.ID) + "-share"}
	action := "/share"
	if st.Shared.Token != "" {
		p.URL, p.Until = h.absolute(sharedURL+st.Shared.Token), i18n.Date(ctx, st.Shared.Until.In(h.zone(ctx)))
		action = "/unshare"
	}
	p.Action = turnsURL + st.ID + action + "?" + block.query().Encode()
	return p
}

// shareTurn handles POST /ai-answers/turns/:id/share.
func (h *Handlers) shareTurn(c echo.Context) error {
	return h.changeShare(c, func(ctx context.Context, id string) error {
		_, err := h.Answers.Share(ctx, id, h.account(c))
		return err
	})
}

// unshareTurn handles POST /ai-answers/turns/:id/unshare.
func (h *Handlers) unshareTurn(c echo.Context) error {
	return h.changeShare(c, func(ctx context.Context, id string) error { return h.Answers.Unshare(ctx, id, h.account(c)) })
}

// changeShare makes or ends the link to a turn and shows what has become of it.
func (h *Handlers) changeShare(c echo.Context, change func(ctx context.Context, id string) error) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	h.setLang(c, h.knownLanguage(c.QueryParam("lang")))
	ctx, who, id := c.Request().Context(), h.account(c), c.Param("id")
	if wait := h.shared.take(h.visitor(c), sharesPerMinute, time.Now()); wait > 0 {
		text := i18n.T(ctx, "share.too_many", int((wait+time.Second-1)/time.Second))
		return &waitRefusal{refusal{http.StatusTooManyRequests, text}, wait}
	}
	if err := change(ctx, id); err != nil {
		return refusedShare(ctx, err)
	}
	page := isHTMX(c) || accepts(c, "text/html")
	st, err := h.Answers.Turn(ctx, id, who)
	if errors.Is(err, answer.ErrNotFound) && !page { // the link outlived its conversation
		return c.NoContent(http.StatusNoContent)
	}
	if err != nil {
		return err
	}
	if !st.Sharable() {
		return refusedShare(ctx, answer.ErrNothingToShare)
	}
	switch {
	case isHTMX(c):
		p := h.shareProps(ctx, st, h.blockOf(c, st))
		p.Focus = true
		return h.fragment(c, http.StatusOK, components.Share(*p))
	case page:
		return c.Redirect(http.StatusSeeOther, blockConversationURL(st.ConversationID, h.blockOf(c, st))+"#"+answer.DOMID(st.ID)+"-share")
	case st.Shared.Token == "":
		return c.NoContent(http.StatusNoContent)
	}
	return c.JSON(http.StatusOK, map[string]string{"url": h.absolute(sharedURL + st.Shared.Token), "expires_at": st.Shared.Until.Format(time.RFC3339)})
}

// refusedShare puts into words why there is no link.
func refusedShare(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, answer.ErrShareOff):
		return refuse(http.StatusConflict, i18n.T(ctx, "share.off"))
	case errors.Is(err, answer.ErrNothingToShare):
		return refuse(http.StatusConflict, i18n.T(ctx, "share.nothing"))
	case errors.Is(err, answer.ErrShareHidden), errors.Is(err, answer.ErrShareGone):
		return refuse(http.StatusConflict, i18n.T(ctx, "share.changed"))
	}
	if _, ok := errors.AsType[*answer.InvalidError](err); ok {
		return refuse(http.StatusConflict, i18n.T(ctx, "ask.busy"))
	}
	return err
}

// sharedAnswer handles GET /ai-answers/shared/:token. No cache keeps it: who may
// see it, and whether anybody still may, is judged every time.
func (h *Handlers) sharedAnswer(c echo.Context) error {
	header := c.Response().Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Robots-Tag", "noindex")
	sh, err := h.Answers.ReadShared(c.Request().Context(), c.Param("token"), h.account(c))
	if err != nil {
		return h.sharedMissing(c, err)
	}
	if c.QueryParam("lang") == "" {
		h.setLang(c, h.knownLanguage(sh.Lang))
	}
	ctx := c.Request().Context()
	page := views.SharedPage{Site: h.site(c), Question: sh.Question, Agent: sh.AgentLabel, Day: i18n.Date(ctx, sh.AnsweredAt.In(h.zone(ctx))),
		AskURL: h.placeToAsk(ctx, h.account(c), h.lang(c)), Sources: components.SourceListProps{ID: "shared-sources"}}
	if sh.Lang != h.lang(c) {
		page.Lang = sh.Lang
	}
	for _, b := range sh.Blocks {
		page.Blocks = append(page.Blocks, b.HTML)
	}
	page.Sources.Cited = h.cardProps(ctx, sh.Sources, answersBlock{viewMode: h.viewMode(ctx, sh.Agent), reader: h.account(c)})
	for i := range page.Sources.Cited {
		page.Sources.Cited[i].Anchor = true
	}
	return h.render(c, http.StatusOK, views.Shared(page))
}

// sharedMissing says why a shared answer cannot be shown, and nothing of what it says.
func (h *Handlers) sharedMissing(c echo.Context, err error) error {
	ctx := c.Request().Context()
	page := views.SharedMissingPage{Title: i18n.T(ctx, "shared.missing")}
	var status int
	switch {
	case errors.Is(err, answer.ErrNotFound):
		status, page.Text = http.StatusNotFound, i18n.T(ctx, "shared.missing_text")
	case errors.Is(err, answer.ErrShareEnded):
		status, page.Text = http.StatusGone, i18n.T(ctx, "shared.ended_text")
	case errors.Is(err, answer.ErrShareGone):
		status, page.Text = http.StatusGone, i18n.T(ctx, "shared.gone_text")
	case errors.Is(err, answer.ErrShareHidden):
		status, page.Title, page.Text = http.StatusForbidden, i18n.T(ctx, "shared.hidden"), i18n.T(ctx, "shared.hidden_text")
		if h.account(c).IsAnonymous() {
			page.LoginURL = loginURL(c)
		}
	default:
		return err
	}
	if isFragment(c) || wantsJSON(c) {
		return refuse(status, page.Text)
	}
	page.Site, page.AskURL = h.site(c), h.placeToAsk(ctx, h.account(c), h.lang(c))
	return h.render(c, status, views.SharedMissing(page))
}

// turnMarkdown handles GET /ai-answers/turns/:id/markdown: the answer as Markdown,
// with the numbers that the reader sees and the addresses of their sources.
func (h *Handlers) turnMarkdown(c echo.Context) error {
	header := c.Response().Header()
	header.Set("Cache-Control", "no-store")
	h.setLang(c, h.knownLanguage(c.QueryParam("lang")))
	ctx := c.Request().Context()
	text, sources, err := h.Answers.Markdown(ctx, c.Param("id"), h.account(c))
	if err != nil {
		return refusedShare(ctx, err)
	}
	var b strings.Builder
	b.WriteString(text + "\n")
	if len(sources) > 0 {
		b.WriteString("\n## " + i18n.T(ctx, "sources.title") + "\n\n")
	}
	for _, s := range sources {
		b.WriteString("- " + h.markdownSource(s) + "\n")
	}
	header.Set("Content-Disposition", `attachment; filename="answer.md"`)
	return c.Blob(http.StatusOK, "text/markdown; charset=utf-8", []byte(b.String()))
}

var markdownMarks = strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "`", "\\`", "*", `\*`, "_", `\_`, "<", `\<`, "&", `\&`)

// markdownSource is a source in a list: its number and a link to its page. Titles
// are anybody's text, and stay text.
func (h *Handlers) markdownSource(s answer.Source) string {
	title := markdownMarks.Replace(strings.Join(strings.Fields(s.Title), " "))
	if s.Path == "" {
		return markdown.Marker(s.Running) + " " + title
	}
	address := strings.NewReplacer("(", "%28", ")", "%29", "<", "%3C", ">", "%3E", " ", "%20").Replace(h.absolute(s.Path))
	return markdown.Marker(s.Running) + " [" + title + "](" + address + ")"
}
