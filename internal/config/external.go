package config

import (
	"net/url"
	"strings"
)

// An ExternalSite is a site hosted elsewhere whose pages are read, so that answers
// can be given from them.
type ExternalSite struct {
	Label    string `json:"label"`
	Address  string `json:"address"`            // of its sitemap, or of the site itself
	Hours    int    `json:"hours"`              // between two readings
	Pages    int    `json:"pages,omitempty"`    // read at a time, at most; 0: the importer's default
	Language string `json:"language,omitempty"` // of pages that do not tell theirs; empty: the site's own
}

// Kind names the kind.
func (ExternalSite) Kind() string { return "external_site" }

func (e ExternalSite) check(c *check) {
	c.required("label", e.Label, labelLimit)
	u, err := url.Parse(strings.TrimSpace(e.Address))
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		c.refuse("address", "must be like https://example.org/sitemap.xml")
	}
	c.within("hours", e.Hours, 1, 24*90)
	c.within("pages", e.Pages, 0, 20_000)
	if e.Language != "" && !c.exists(Language{}.Kind(), e.Language) {
		c.refuse("language", "is not a language of this site")
	}
}
