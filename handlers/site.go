package handlers

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/config"
	"docent/internal/content"
	"docent/views"
)

// site is what stands around a page that no entity makes. The page of a conversation
// has the blocks of the answers page.
func (h *Handlers) site(c echo.Context) views.Site {
	path := h.pathOnSite(c)
	if strings.HasPrefix(path, conversationsURL) {
		path = answersURL
	}
	blocks, _ := h.blockBuilder(c).place(path, "")
	prefill(c, blocks, nil)
	return h.siteAround(c, blocks)
}

// siteAround is what stands around every page, with its blocks. Parts that cannot be
// read are left out and logged: a page without its menu is better than none.
func (h *Handlers) siteAround(c echo.Context, blocks views.Blocks) views.Site {
	ctx, lang, path := c.Request().Context(), h.lang(c), c.Request().URL.Path
	s := views.Site{Lang: lang, HomeURL: h.languagePrefix(lang) + "/", CurrentPath: path, Blocks: blocks}
	settings, err := config.Get[config.Settings](ctx, h.Config, config.SiteName)
	if err != nil {
		h.Log.Error("site settings", "error", err)
	}
	s.SiteName, s.Tagline, s.Footer = settings.SiteName, settings.Tagline[lang], settings.Footer[lang]
	s.Languages = h.languageLinks(c, nil)
	s.Menu = h.menu(c, "main")
	s.FooterLinks = h.menu(c, "footer")
	if answers, err := config.Get[config.AnswerSettings](ctx, h.Config, config.SiteName); err == nil {
		s.Shortcut = answers.Shortcut
	}
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

// pathOnSite is the path of the page asked for, without the prefix of its language.
func (h *Handlers) pathOnSite(c echo.Context) string {
	return cmp.Or(strings.TrimPrefix(c.Request().URL.Path, h.languagePrefix(h.lang(c))), "/")
}
