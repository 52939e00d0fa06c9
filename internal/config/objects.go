package config

import (
	"slices"

	"docent/internal/account"
)

// An Index names a part of the content that can be searched.
type Index struct {
	Label     string   `json:"label"`
	Bundles   []string `json:"bundles,omitempty"`   // content types; empty: all
	Languages []string `json:"languages,omitempty"` // empty: all
}

// A Role grants permissions.
type Role struct {
	Label       string               `json:"label"`
	Permissions []account.Permission `json:"permissions,omitempty"`
}

// A Language is one that the site has content in.
type Language struct {
	Label  string `json:"label"`  // in the language itself: "العربية"
	Weight int    `json:"weight"` // order in the switcher
}

// Settings are the site's own: the object is named "site".
type Settings struct {
	SiteName        string              `json:"site_name"`
	Tagline         map[string]string   `json:"tagline,omitempty"` // by language
	Footer          map[string]string   `json:"footer,omitempty"`
	DefaultLanguage string              `json:"default_language"`
	TimeZone        string              `json:"time_zone"`
	ContactPath     string              `json:"contact_path,omitempty"`
	Suggestions     map[string][]string `json:"suggestions,omitempty"`    // questions to offer, by language
	OutOfAnswers    []string            `json:"out_of_answers,omitempty"` // content types that answers leave out
	ImageLimit      int                 `json:"image_limit,omitempty"`    // megabytes that an uploaded image may have; 0: 20
	DocumentLimit   int                 `json:"document_limit,omitempty"` // the same of a document; 0: 50
}

// Has reports whether an index covers a content type in a language.
func (i Index) Has(bundle, lang string) bool {
	return (len(i.Bundles) == 0 || slices.Contains(i.Bundles, bundle)) &&
		(len(i.Languages) == 0 || slices.Contains(i.Languages, lang))
}
