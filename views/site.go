// Package views holds the pages: one templ file a page, with the struct that the
// page shows on top of it.
package views

import (
	"strings"

	"docent/components"
	"docent/internal/i18n"
)

// LanguageLink leads to the same page in another language.
type LanguageLink struct {
	Code    string // BCP 47
	Name    string // the language's name in itself
	URL     string
	Current bool
}

// Head is what a public page says to search engines, feed readers and other
// sites' previews.
type Head struct {
	Description string
	Canonical   string // absolute; empty: the page has no lasting address
	Article     bool   // it was published at a time, as news are
	Image       components.ImageProps
	Alternates  []LanguageLink    // the page's translations, itself included, with absolute addresses
	Feeds       []components.Link // Atom feeds, the site's first
	Data        []any             // schema.org objects, written as JSON-LD
}

func (h Head) kind() string {
	if h.Article {
		return "article"
	}
	return "website"
}

// Site is what every page shows around its own content. Pages embed it.
type Site struct {
	SiteName    string
	Tagline     string // one line above the name, such as opening hours
	HomeURL     string // front page in the page's language; "/" when empty
	Languages   []LanguageLink
	Menu        []components.Link
	Footer      string
	FooterLinks []components.Link
	AccountName string // signed-in account; administrative pages only
	Lang        string // language of the page
	Dir         string // direction of the page; derived from Lang when empty
	CSRF        string // token for forms; administrative pages only
	CurrentPath string
	Blocks      Blocks
	Shortcut    bool // Ctrl or Command with K leads to the first Question block
}

func (s Site) home() string {
	if s.HomeURL != "" {
		return s.HomeURL
	}
	return "/"
}

func (s Site) lang() string {
	if s.Lang != "" {
		return s.Lang
	}
	return i18n.Default
}

func (s Site) direction() string {
	if s.Dir != "" {
		return s.Dir
	}
	return i18n.Direction(s.lang())
}

// fonts are the files that every page in the site's language needs for its first
// paint. What is written with the system's own faces needs none.
func (s Site) fonts() []string {
	switch lang, _, _ := strings.Cut(s.lang(), "-"); lang {
	case "ar", "fa", "ur":
		return []string{"vendor/fonts/noto-sans-arabic-arabic-400-normal.woff2", "vendor/fonts/noto-naskh-arabic-arabic-600-normal.woff2"}
	case "ja", "ko", "zh":
		return nil
	default:
		return []string{"vendor/fonts/noto-sans-latin-wght-normal.woff2", "vendor/fonts/newsreader-latin-600-normal.woff2"}
	}
}

// title is the text of the title element.
func (s Site) title(page string) string {
	switch {
	case page == "" || page == s.SiteName:
		return s.SiteName
	case s.SiteName == "":
		return page
	default:
		return page + " | " + s.SiteName
	}
}
