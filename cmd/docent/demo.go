package main

import (
	"context"
	"fmt"
	"io/fs"

	"go.yaml.in/yaml/v3"

	"docent/internal/config"
	"docent/internal/demo"
	"docent/internal/i18n"
	"docent/internal/importer"
)

// demoSite is what the demo site says about itself, beside its pages.
type demoSite struct {
	Name      string              `yaml:"name"`
	Languages []string            `yaml:"languages"`
	TimeZone  string              `yaml:"time_zone"`
	Contact   string              `yaml:"contact"`
	Tagline   map[string]string   `yaml:"tagline"`
	Footer    map[string]string   `yaml:"footer"`
	Questions map[string][]string `yaml:"questions"`
}

// loadDemo fills an empty database with the demo site.
func (a *app) loadDemo(ctx context.Context) error {
	files := demo.Files()
	data, err := fs.ReadFile(files, "site.yaml")
	if err != nil {
		return err
	}
	var d demoSite
	if err := yaml.Unmarshal(data, &d); err != nil {
		return fmt.Errorf("site.yaml: %w", err)
	}
	for i, code := range d.Languages {
		if err := config.Put(ctx, a.config, code, config.Language{Label: i18n.Name(code), Weight: i}, ""); err != nil {
			return err
		}
	}
	site, err := config.Get[config.Settings](ctx, a.config, config.SiteName)
	if err != nil {
		return err
	}
	site.SiteName, site.DefaultLanguage, site.TimeZone, site.ContactPath = d.Name, d.Languages[0], d.TimeZone, d.Contact
	site.Tagline, site.Footer, site.Suggestions = d.Tagline, d.Footer, d.Questions
	if err := config.Put(ctx, a.config, config.SiteName, site, ""); err != nil {
		return err
	}
	opts := a.importOptions()
	opts.FS, opts.Origin = files, "demo:"
	summary, err := importer.Run(ctx, opts)
	if err != nil {
		return err
	}
	for _, p := range summary.Problems {
		a.log.Warn("demo site", "problem", p.String())
	}
	a.log.Info("the demo site is loaded; DOCENT_DEMO=off starts without it", "pages", summary.Added)
	return nil
}
