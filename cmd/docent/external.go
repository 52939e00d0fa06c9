package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"docent/db"
	"docent/internal/config"
	"docent/internal/importer"
	"docent/internal/importer/crawl"
	"docent/internal/job"
)

// readExternalSites finds the sites elsewhere whose time has come.
type readExternalSites struct{}

// Kind names the job in the queue.
func (readExternalSites) Kind() string { return "read_external_sites" }

// readExternalSite reads one of them.
type readExternalSite struct {
	Name string `json:"name"`
}

// Kind names the job in the queue.
func (readExternalSite) Kind() string { return "read_external_site" }

// keepExternalSites reads sites hosted elsewhere again when they are due.
func (a *app) keepExternalSites() {
	job.Handle(a.queue, func(ctx context.Context, _ readExternalSites) error {
		sites, err := config.All[config.ExternalSite](ctx, a.config)
		if err != nil {
			return err
		}
		var due []job.Args
		for _, s := range sites {
			address, err := crawl.ParseAddress(s.Value.Address)
			if err != nil {
				continue
			}
			last, err := crawl.LastRead(ctx, a.db, address.Host)
			if err != nil {
				return err
			}
			if time.Since(last) >= time.Duration(s.Value.Hours)*time.Hour {
				due = append(due, readExternalSite{s.Name})
			}
		}
		if len(due) == 0 {
			return nil
		}
		return a.db.InTx(ctx, func(tx *db.DB) error { return a.queue.Add(ctx, tx, due...) })
	})
	job.Handle(a.queue, func(ctx context.Context, j readExternalSite) error {
		site, err := config.Get[config.ExternalSite](ctx, a.config, j.Name)
		if errors.Is(err, db.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		sum, err := crawl.Run(ctx, a.crawlOptions(site))
		if err != nil {
			return fmt.Errorf("external site %s: %w", j.Name, err)
		}
		a.log.Info("external site read", "site", j.Name, "added", sum.Added, "changed", sum.Changed, "unchanged", sum.Unchanged,
			"removed", sum.Removed, "problems", len(sum.Problems), "took", sum.Took.Round(time.Millisecond))
		return nil
	})
	job.Every(a.queue, time.Hour, readExternalSites{})
}

func (a *app) crawlOptions(site config.ExternalSite) crawl.Options {
	return crawl.Options{
		Sitemap: site.Address, Pages: site.Pages, Language: site.Language, AllowPrivate: a.settings.crawlPrivate,
		Store: a.content, DB: a.db, IndexBatch: a.search.PutItems,
	}
}

// importSite reads a site hosted elsewhere, and has it read again every so many
// hours if that is more than zero.
func (a *app) importSite(ctx context.Context, site config.ExternalSite) (importer.Summary, error) {
	address, err := crawl.ParseAddress(site.Address)
	if err != nil {
		return importer.Summary{}, err
	}
	if site.Hours > 0 {
		site.Label = address.Host
		if err := config.Put(ctx, a.config, configName(address.Host), site, ""); err != nil {
			return importer.Summary{}, err
		}
	}
	opts := a.crawlOptions(site)
	opts.Progress = importer.ProgressTo(a.stderr, a.isTerminal())
	opts.Time = time.Hour // somebody is watching
	return crawl.Run(ctx, opts)
}

// configName makes the name of an object of a host.
func configName(host string) string {
	name := []byte("site_")
	for _, r := range []byte(host) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			name = append(name, r)
		default:
			name = append(name, '_')
		}
	}
	return string(name[:min(len(name), 63)])
}
