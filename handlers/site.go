package handlers

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
	"golang.org/x/text/language"

	"docent/components"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/views"
)

const langKey = "lang"

// siteAgent answers the questions asked in the header.
const siteAgent = config.SiteName

// speak decides the language of a request: the one that its address or its query
// names, in the administration the browser's, and else the site's default.
func (h *Handlers) speak(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h.setLang(c, h.requestedLang(c.Request()))
		return next(c)
	}
}

func (h *Handlers) requestedLang(r *http.Request) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch first {
	case "admin", "user":
		return interfaceLang(r.Header.Get("Accept-Language"), h.Content.DefaultLanguage())
	}
	if slices.Contains(h.Content.Languages(), first) {
		return first
	}
	return h.knownLanguage(r.URL.Query().Get("lang"))
}

// interfaceLang chooses among the languages of the interface.
func interfaceLang(header, fallback string) string {
	known := i18n.Languages()
	if i := slices.Index(known, fallback); i > 0 { // the matcher falls back to the first
		known[0], known[i] = known[i], known[0]
	}
	tags := make([]language.Tag, len(known))
	for i, lang := range known {
		tags[i] = language.Make(lang)
	}
	wanted, _, err := language.ParseAcceptLanguage(header)
	if err != nil {
		wanted = nil
	}
	_, i, _ := language.NewMatcher(tags).Match(wanted...)
	return known[i]
}

// setLang makes lang the language of the request, for texts and for pages.
func (h *Handlers) setLang(c echo.Context, lang string) {
	c.Set(langKey, lang)
	c.SetRequest(c.Request().WithContext(i18n.WithLanguage(c.Request().Context(), lang)))
}

// lang is the language of the request.
func (h *Handlers) lang(c echo.Context) string {
	if lang, ok := c.Get(langKey).(string); ok {
		return lang
	}
	return h.Content.DefaultLanguage()
}

// knownLanguage returns lang if the site has it, and else the site's default.
func (h *Handlers) knownLanguage(lang string) string {
	if slices.Contains(h.Content.Languages(), lang) {
		return lang
	}
	return h.Content.DefaultLanguage()
}

// languagePrefix starts the addresses of a language: "/es", or "" for the default
// and for languages that only the interface has.
func (h *Handlers) languagePrefix(lang string) string {
	return strings.TrimSuffix(h.Content.PublicPath(h.knownLanguage(lang), "/"), "/")
}

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
	s.Languages = h.languageLinks(c)
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

// languageLinks lead to the front pages of the site's languages. Pages that know
// their translations replace them.
func (h *Handlers) languageLinks(c echo.Context) []views.LanguageLink {
	all, err := config.Languages(c.Request().Context(), h.Config)
	if err != nil {
		h.Log.Error("languages", "error", err)
		return nil
	}
	links := make([]views.LanguageLink, len(all))
	for i, l := range all {
		links[i] = views.LanguageLink{
			Code: l.Name, Name: l.Value.Label, URL: h.languagePrefix(l.Name) + "/", Current: l.Name == h.lang(c),
		}
	}
	return links
}

func (h *Handlers) menu(c echo.Context, name string) []components.Link {
	items, err := h.Content.Menu(c.Request().Context(), h.account(c), h.lang(c), name)
	if err != nil {
		h.Log.Error("menu", "menu", name, "error", err)
		return nil
	}
	links := make([]components.Link, len(items))
	for i, item := range items {
		links[i] = menuLink(item, c.Request().URL.Path)
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
	if agent, err := config.Get[config.Agent](ctx, h.Config, siteAgent); err != nil || !agent.Enabled {
		return nil
	}
	return &components.QuestionProps{
		ID: "site-question", Variant: components.QuestionBand, Action: questionURL, Agent: siteAgent, Lang: lang,
		AnswerID: siteAnswerID, TargetURL: h.languagePrefix(lang) + answersURL,
		Label: i18n.T(ctx, "question.label", settings.SiteName), Placeholder: i18n.T(ctx, "question.placeholder"),
		Note:        i18n.T(ctx, "question.note"),
		Suggestions: settings.Suggestions[lang],
	}
}
