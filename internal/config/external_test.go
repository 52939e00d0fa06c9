package config

import (
	"errors"
	"testing"

	"docent/db"
	"docent/db/dbtest"
)

func TestExternalSite(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, err := Open(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		good := ExternalSite{Label: "Mill", Address: "https://mill.example/sitemap.xml", Hours: 24}
		if err := Put(t.Context(), s, "mill", good, ""); err != nil {
			t.Fatal(err)
		}
		for field, change := range map[string]func(*ExternalSite){
			"label":    func(e *ExternalSite) { e.Label = " " },
			"address":  func(e *ExternalSite) { e.Address = "file:///etc/passwd" },
			"hours":    func(e *ExternalSite) { e.Hours = 0 },
			"pages":    func(e *ExternalSite) { e.Pages = -1 },
			"language": func(e *ExternalSite) { e.Language = "xx" },
		} {
			bad := good
			change(&bad)
			err := Put(t.Context(), s, "mill", bad, "")
			if e, ok := errors.AsType[*InvalidError](err); !ok || e.Fields[field] == "" {
				t.Errorf("%s: %v", field, err)
			}
		}
	})
}
