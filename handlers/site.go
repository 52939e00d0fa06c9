package handlers

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/views"
)

// siteAgent answers the questions asked in the header.
const siteAgent = config.SiteName

// site is what stands around every page. Parts that cannot be read are left out
// and logged: a page without its menu is better than none.
func (h *Handlers) site(c echo.Context) views.Site {
	ctx, lang, path := c.Request().Context(), h.lang(c), c.Request().URL.Path
	s := views.Site{Lang: lang, HomeURL: h.languagePrefix(lang) + "/", CurrentPath: path}
	settings, err := config.Get[config.Settings](ctx, h.Config, config.SiteName)
	if err != nil {
		h.Log.Error("site settings", "error", err)
	}
	s.SiteName, s.Tagline, s.Footer = settings.SiteName, settings.Tagline[lang], settings.Footer[lang]
	s.Languages = h.languageLinks(c, nil)
	s.Menu = h.menu(c, "main")
	s.FooterLinks = h.menu(c, "footer")
	s.Question = h.question(c, settings)
	return s
}

// errorSite is what stands around an error page: when the site itself has failed,
// nothing that could fail again.
func (h *Handlers) errorSite(c echo.Context, status int) views.Site {
	if status >= http.StatusInternalServerError {
		return views.Site{Lang: h.lang(c), HomeURL: "/"}
	}
	return h.site(c)
}

func (h *Handlers) menu(c echo.Context, name string) []components.Link {
	items, err := h.Content.Menu(c.Request().Context(), h.account(c), h.lang(c), name)
	if err != nil {
		h.Log.Error("menu", "menu", name, "error", err)
		return nil
	}
	return menuLinks(items, c.Request().URL.Path)
}

func menuLinks(items []content.MenuItem, path string) []components.Link {
	links := make([]components.Link, len(items))
	for i, item := range items {
		links[i] = menuLink(item, path)
		links[i].Below = menuLinks(item.Children, path)
		links[i].Current = links[i].Current || slices.ContainsFunc(links[i].Below, func(l components.Link) bool { return l.Current })
	}
	return links
}

// menuLink marks the entry of the page shown and those of sections around it.
func menuLink(item content.MenuItem, path string) components.Link {
	section := strings.TrimSuffix(item.Path, "/") + "/"
	return components.Link{
		Label: item.Title, URL: item.Path,
		Current: item.Path == path || section != "/" && strings.HasPrefix(path, section),
	}
}

// question is the block in the header in which visitors ask, nil for those who
// may not and on sites without an agent.
func (h *Handlers) question(c echo.Context, settings config.Settings) *components.QuestionProps {
	ctx, lang := c.Request().Context(), h.lang(c)
	if !h.account(c).Can(account.UseAnswers) {
		return nil
	}
	agent, err := config.Get[config.Agent](ctx, h.Config, siteAgent)
	if err != nil || !agent.Enabled {
		return nil
	}
	return &components.QuestionProps{
		ID: "site-question", Variant: components.QuestionBand, Action: questionURL, Agent: siteAgent, Lang: lang,
		AnswerID: siteAnswerID, TargetURL: h.languagePrefix(lang) + answersURL,
		Label: i18n.T(ctx, "question.label", settings.SiteName), Placeholder: i18n.T(ctx, "question.placeholder"),
		Note:        h.questionNote(ctx, lang),
		Limit:       agent.QuestionLimit,
		Suggestions: settings.Suggestions[lang],
	}
}
