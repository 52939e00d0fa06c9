package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
	"golang.org/x/text/language"

	"docent/db"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/views"
)

const langKey = "lang"

// chooseURL starts the addresses at which visitors choose a language.
const chooseURL = "/language/"

// languageCookie keeps the language that a visitor chose. It decides where the
// front page leads, and nothing else.
const languageCookie = "docent-language"

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

// languageLinks lead to the translations of a page, given by language, and to the
// front pages of the languages that it has none in.
func (h *Handlers) languageLinks(c echo.Context, paths map[string]string) []views.LanguageLink {
	all, err := config.Languages(c.Request().Context(), h.Config)
	if err != nil {
		h.Log.Error("languages", "error", err)
		return nil
	}
	links := make([]views.LanguageLink, len(all))
	for i, l := range all {
		to, ok := paths[l.Name]
		if !ok {
			to = h.languagePrefix(l.Name) + "/"
		}
		links[i] = views.LanguageLink{
			Code: l.Name, Name: l.Value.Label, Current: l.Name == h.lang(c),
			URL: chooseURL + l.Name + "?" + url.Values{"to": {to}}.Encode(),
		}
	}
	return links
}

// chooseLanguage handles GET /language/:lang?to=path: a visitor's own choice, which
// a cookie keeps. Other sites cannot choose for their visitors.
func (h *Handlers) chooseLanguage(c echo.Context) error {
	lang := c.Param("lang")
	if !slices.Contains(h.Content.Languages(), lang) {
		return db.ErrNotFound
	}
	to := ownPath(c.QueryParam("to"))
	if to == "" {
		to = h.languagePrefix(lang) + "/"
	}
	switch c.Request().Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		c.SetCookie(&http.Cookie{
			Name: languageCookie, Value: lang, Path: "/", MaxAge: cookieAge, HttpOnly: true, Secure: h.https, SameSite: http.SameSiteLaxMode,
		})
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.Redirect(http.StatusSeeOther, to)
}

// frontLanguage is the language in which a visitor wants the front page, of those
// that it exists in: the one chosen before, else the browser's.
func (h *Handlers) frontLanguage(c echo.Context, it content.Item) string {
	header := c.Response().Header()
	header.Add("Vary", "Accept-Language")
	header.Add("Vary", "Cookie")
	if chosen, err := c.Cookie(languageCookie); err == nil && slices.Contains(it.Languages, chosen.Value) {
		return chosen.Value
	}
	return preferredLanguage(c.Request().Header.Get("Accept-Language"), it.Languages, h.Content.DefaultLanguage())
}

// preferredLanguage chooses among languages as Accept-Language asks.
func preferredLanguage(header string, among []string, fallback string) string {
	if len(among) < 2 || header == "" || len(header) > 1000 {
		return fallback
	}
	known := append([]string{fallback}, among...) // the matcher falls back to the first
	tags := make([]language.Tag, len(known))
	for i, lang := range known {
		tags[i] = language.Make(lang)
	}
	wanted, _, err := language.ParseAcceptLanguage(header)
	if err != nil {
		return fallback
	}
	_, i, confidence := language.NewMatcher(tags).Match(wanted...)
	if confidence == language.No {
		return fallback
	}
	return known[i]
}
