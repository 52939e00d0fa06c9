package handlers

import (
	"encoding/xml"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"docent/db"
	"docent/internal/content"
)

// sitemapSize is how many addresses one file lists; the protocol allows 50,000.
const sitemapSize = 10_000

const (
	sitemapKind   = "application/xml; charset=utf-8"
	sitemapSchema = "http://www.sitemaps.org/schemas/sitemap/0.9"
)

type sitemapFile struct {
	XMLName xml.Name     `xml:"urlset"`
	Schema  string       `xml:"xmlns,attr"`
	XHTML   string       `xml:"xmlns:xhtml,attr"`
	URLs    []sitemapURL `xml:"url"`
}

type sitemapURL struct {
	Loc     string        `xml:"loc"`
	LastMod string        `xml:"lastmod,omitempty"`
	Links   []sitemapLink `xml:"xhtml:link"`
}

type sitemapLink struct {
	Rel  string `xml:"rel,attr"`
	Lang string `xml:"hreflang,attr"`
	Href string `xml:"href,attr"`
}

type sitemapIndex struct {
	XMLName  xml.Name     `xml:"sitemapindex"`
	Schema   string       `xml:"xmlns,attr"`
	Sitemaps []sitemapURL `xml:"sitemap"`
}

// sitemap handles GET /sitemap.xml: every page that everybody may read, or where
// its parts are.
func (h *Handlers) sitemap(c echo.Context) error {
	urls, err := h.publicURLs(c)
	if err != nil {
		return err
	}
	if len(urls) <= sitemapSize {
		return h.writeSitemap(c, sitemapFile{Schema: sitemapSchema, XHTML: "http://www.w3.org/1999/xhtml", URLs: urls})
	}
	index := sitemapIndex{Schema: sitemapSchema}
	for i := 0; i*sitemapSize < len(urls); i++ {
		part := urls[i*sitemapSize : min((i+1)*sitemapSize, len(urls))]
		latest := slices.MaxFunc(part, func(a, b sitemapURL) int { return strings.Compare(a.LastMod, b.LastMod) })
		index.Sitemaps = append(index.Sitemaps, sitemapURL{Loc: h.absolute("/sitemap/" + strconv.Itoa(i+1) + ".xml"), LastMod: latest.LastMod})
	}
	return h.writeSitemap(c, index)
}

// sitemapPart handles GET /sitemap/:file.
func (h *Handlers) sitemapPart(c echo.Context) error {
	number, ok := strings.CutSuffix(c.Param("file"), ".xml")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 1 || strconv.Itoa(n) != number {
		return db.ErrNotFound
	}
	urls, err := h.publicURLs(c)
	if err != nil {
		return err
	}
	if n > (len(urls)+sitemapSize-1)/sitemapSize {
		return db.ErrNotFound
	}
	part := urls[(n-1)*sitemapSize : min(n*sitemapSize, len(urls))]
	return h.writeSitemap(c, sitemapFile{Schema: sitemapSchema, XHTML: "http://www.w3.org/1999/xhtml", URLs: part})
}

func (h *Handlers) writeSitemap(c echo.Context, file any) error {
	body, err := xml.Marshal(file)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Cache-Control", "public, max-age=600")
	return h.cacheable(c, sitemapKind, append([]byte(xml.Header), body...))
}

// publicURLs lists what a visitor without an account may read, in a lasting order,
// whoever asks.
func (h *Handlers) publicURLs(c echo.Context) ([]sitemapURL, error) {
	ctx := c.Request().Context()
	visitor, err := h.Accounts.Anonymous(ctx)
	if err != nil {
		return nil, err
	}
	addresses, err := h.Content.Addresses(ctx)
	if err != nil {
		return nil, err
	}
	byEntity := map[string]map[string]string{}
	addresses = slices.DeleteFunc(addresses, func(a content.Address) bool {
		return a.Bundle == externalType || !content.CanView(visitor, a.Item())
	})
	for _, a := range addresses {
		if byEntity[a.ID] == nil {
			byEntity[a.ID] = map[string]string{}
		}
		byEntity[a.ID][a.Lang] = h.absolute(escaped(a.Path))
	}
	urls := make([]sitemapURL, len(addresses))
	for i, a := range addresses {
		urls[i] = sitemapURL{Loc: h.absolute(escaped(a.Path)), LastMod: a.ChangedAt.Format(time.RFC3339)}
		if languages := byEntity[a.ID]; len(languages) > 1 {
			for _, lang := range slices.Sorted(maps.Keys(languages)) {
				urls[i].Links = append(urls[i].Links, sitemapLink{Rel: "alternate", Lang: lang, Href: languages[lang]})
			}
		}
	}
	return urls, nil
}

// robots handles GET /robots.txt.
func (h *Handlers) robots(c echo.Context) error {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for _, closed := range []string{"/admin", "/user/", "/ai-answers/", "/language/", "/preview/", searchURL} {
		b.WriteString("Disallow: " + closed + "\n")
	}
	for _, lang := range h.Content.Languages() {
		if prefix := h.languagePrefix(lang); prefix != "" {
			b.WriteString("Disallow: " + prefix + searchURL + "\n")
		}
	}
	b.WriteString("\nSitemap: " + h.absolute("/sitemap.xml") + "\n")
	c.Response().Header().Set("Cache-Control", "public, max-age=600")
	return c.String(http.StatusOK, b.String())
}
