package handlers

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"docent/db"
	"docent/internal/config"
	"docent/internal/media"
	"docent/views"
)

// siteSettings handles GET /admin/config/site.
func (h *Handlers) siteSettings(c echo.Context) error {
	settings, err := config.Get[config.Settings](c.Request().Context(), h.Config, config.SiteName)
	if err != nil {
		return err
	}
	page, err := h.siteSettingsPage(c, settings)
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.SiteSettings(page))
}

func (h *Handlers) siteSettingsPage(c echo.Context, s config.Settings) (views.SiteSettingsPage, error) {
	page := views.SiteSettingsPage{
		Admin: h.admin(c), Action: "/admin/config/site",
		Name: s.SiteName, LanguagesURL: languagesURL, TimeZone: s.TimeZone, TimeZones: timeZones(), ContactPath: s.ContactPath,
		ImageLimit: megabytes(h.Content.UploadLimit(media.JPEG), s.ImageLimit), DocumentLimit: megabytes(h.Content.UploadLimit(media.PDF), s.DocumentLimit),
		Changes: history[config.Settings](h, c, config.SiteName),
	}
	if zone, err := time.LoadLocation(s.TimeZone); err == nil {
		page.TimeNow = db.Now().In(zone)
	}
	front, err := h.Content.ByPath(c.Request().Context(), h.account(c), s.DefaultLanguage, "/")
	switch {
	case err == nil:
		page.FrontTitle, page.FrontURL = front.Title, front.Path
	case !errors.Is(err, db.ErrNotFound):
		return page, err
	}
	languages, err := config.Languages(c.Request().Context(), h.Config)
	if err != nil {
		return page, err
	}
	for _, l := range languages {
		if l.Name == s.DefaultLanguage {
			page.DefaultLanguage = l.Value.Label
		}
		page.Languages = append(page.Languages, views.SiteSettingsTexts{
			Code: l.Name, Label: l.Value.Label,
			Tagline: s.Tagline[l.Name], Footer: s.Footer[l.Name], Suggestions: strings.Join(s.Suggestions[l.Name], "\n"),
		})
	}
	return page, nil
}

// saveSiteSettings handles POST /admin/config/site.
func (h *Handlers) saveSiteSettings(c echo.Context) error {
	ctx := c.Request().Context()
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	old, err := config.Get[config.Settings](ctx, h.Config, config.SiteName)
	if err != nil {
		return err
	}
	languages, err := config.Languages(ctx, h.Config)
	if err != nil {
		return err
	}
	settings := old
	settings.Tagline, settings.Footer, settings.Suggestions = maps.Clone(old.Tagline), maps.Clone(old.Footer), maps.Clone(old.Suggestions)
	settings.SiteName = strings.TrimSpace(form.Get("site_name"))
	settings.TimeZone = strings.TrimSpace(form.Get("time_zone"))
	settings.ContactPath = strings.TrimSpace(form.Get("contact_path"))
	for name, to := range map[string]*int{"image_limit": &settings.ImageLimit, "document_limit": &settings.DocumentLimit} {
		if form.Has(name) {
			if *to, err = strconv.Atoi(strings.TrimSpace(form.Get(name))); err != nil || *to == 0 {
				*to = -1 // refused with the others
			}
		}
	}
	for _, l := range languages {
		settings.Tagline = withText(settings.Tagline, l.Name, form, "tagline")
		settings.Footer = withText(settings.Footer, l.Name, form, "footer")
		settings.Suggestions = withLines(settings.Suggestions, l.Name, form, "suggestions")
	}
	err = config.Put(ctx, h.Config, config.SiteName, settings, h.account(c).ID)
	if refused := refusedFields(err); refused != nil {
		page, err := h.siteSettingsPage(c, settings)
		if err != nil {
			return err
		}
		page.Errors = map[string]string{}
		for field, message := range refused {
			page.Errors[field] = sentence(message)
		}
		return h.render(c, http.StatusUnprocessableEntity, views.SiteSettings(page))
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/admin/config/site?done=settings")
}

// megabytes is a limit as its form shows it: what was typed, else what is in force.
func megabytes(inForce int64, typed int) string {
	switch {
	case typed > 0:
		return strconv.Itoa(typed)
	case typed < 0:
		return ""
	}
	return strconv.FormatInt(inForce>>20, 10)
}

// withText sets a language's text from the field "name.lang" of a form that has
// it; an empty one removes the text.
func withText(texts map[string]string, lang string, form url.Values, name string) map[string]string {
	field := name + "." + lang
	if !form.Has(field) {
		return texts
	}
	if texts == nil {
		texts = map[string]string{}
	}
	delete(texts, lang)
	if text := strings.TrimSpace(form.Get(field)); text != "" {
		texts[lang] = text
	}
	return texts
}

// withLines is withText for one value a line.
func withLines(texts map[string][]string, lang string, form url.Values, name string) map[string][]string {
	field := name + "." + lang
	if !form.Has(field) {
		return texts
	}
	if texts == nil {
		texts = map[string][]string{}
	}
	delete(texts, lang)
	var lines []string
	for line := range strings.Lines(form.Get(field)) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if lines != nil {
		texts[lang] = lines
	}
	return texts
}
