package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"docent/internal/config"
	"docent/internal/importer"
	"docent/internal/importer/wxr"
)

// importContent brings content in: a folder of Markdown files, the export file of
// a WordPress site, or the pages of a site hosted elsewhere.
func importContent(ctx context.Context, env environment, flags *flag.FlagSet, args []string) error {
	prune := flags.Bool("prune", false, "remove pages whose file is gone; asks first")
	verbose := flags.Bool("v", false, "list every problem")
	yes := flags.Bool("yes", false, "do not ask")
	export := flags.String("wxr", "", "import this export file of a WordPress site instead of a folder")
	uploads := flags.String("uploads", "", "with -wxr: a copy of that site's wp-content/uploads, to take images from")
	sitemap := flags.String("sitemap", "", "read the site with this sitemap, or this address, instead of a folder")
	site := config.ExternalSite{}
	flags.IntVar(&site.Hours, "every", 0, "with -sitemap: read the site again after so many hours, while the server runs")
	flags.IntVar(&site.Pages, "pages", 0, "with -sitemap: read so many pages at a time, at most")
	flags.StringVar(&site.Language, "lang", "", "with -sitemap: language of pages that do not tell theirs")
	rest, err := env.parse(flags, args)
	if err != nil {
		return err
	}
	sources := rest
	for _, named := range []string{*export, *sitemap} {
		if named != "" {
			sources = append(sources, named)
		}
	}
	if len(sources) != 1 {
		flags.Usage()
		return errors.New("import needs one folder, one -wxr file or one -sitemap")
	}
	if *sitemap == "" {
		if info, err := os.Stat(sources[0]); err != nil || info.IsDir() != (*export == "") {
			kind := "folder"
			if *export != "" {
				kind = "file"
			}
			return fmt.Errorf("%s is not a %s", sources[0], kind)
		}
	}
	a, err := open(ctx, env)
	if err != nil {
		return err
	}
	defer a.db.Close()
	progress := importer.ProgressTo(env.stderr, env.isTerminal())
	var summary importer.Summary
	switch {
	case *sitemap != "":
		site.Address = *sitemap
		summary, err = a.importSite(ctx, site)
	case *export != "":
		summary, err = a.importExport(ctx, *export, *uploads, progress)
	default:
		opts := a.importOptions()
		opts.Dir, opts.Progress = rest[0], progress
		if *prune {
			opts.Prune = func(gone []string) bool { return *yes || env.confirm(gone) }
		}
		summary, err = importer.Run(ctx, opts)
	}
	if err != nil {
		return err
	}
	env.report(summary, *verbose)
	return nil
}

// importExport imports a WordPress export, with images from a folder if there is one.
func (a *app) importExport(ctx context.Context, file, uploads string, progress func(importer.Progress)) (importer.Summary, error) {
	opts := wxr.Options{
		Open:  func() (io.ReadCloser, error) { return os.Open(file) },
		Store: a.content, Progress: progress, IndexBatch: a.search.PutItems,
	}
	if uploads != "" {
		root, err := os.OpenRoot(uploads)
		if err != nil {
			return importer.Summary{}, fmt.Errorf("uploads: %w", err)
		}
		defer root.Close()
		opts.Uploads = root.FS()
	}
	return wxr.Run(ctx, opts)
}

// problemsShown is how many problems are listed unless all are asked for.
const problemsShown = 25

// report accounts for every file.
func (e environment) report(s importer.Summary, verbose bool) {
	for i, p := range s.Problems {
		if i == problemsShown && !verbose {
			fmt.Fprintf(e.stdout, "… and %d more; -v lists all\n", len(s.Problems)-i)
			break
		}
		fmt.Fprintln(e.stdout, p)
	}
	fmt.Fprintf(e.stdout, "\n%d files in %s: %d added, %d changed, %d unchanged, %d not read. %d are drafts. %d problems.\n",
		s.Files, s.Took.Round(time.Millisecond), s.Added, s.Changed, s.Unchanged, s.Skipped, s.Drafts, len(s.Problems))
	switch {
	case s.Removed > 0:
		fmt.Fprintf(e.stdout, "%d pages whose file is gone were removed.\n", s.Removed)
	case len(s.Gone) > 0:
		fmt.Fprintf(e.stdout, "%d pages whose file is gone are kept; -prune removes them.\n", len(s.Gone))
	}
}

// importOptions are how this site imports, from wherever.
func (a *app) importOptions() importer.Options {
	return importer.Options{Store: a.content, IndexBatch: a.search.PutItems}
}

// confirm shows what would be removed and asks. The answer is read from standard
// input, whatever that is; silence is a no.
func (e environment) confirm(gone []string) bool {
	const shown = 20
	for i, name := range gone {
		if i == shown {
			fmt.Fprintf(e.stdout, "… and %d more\n", len(gone)-shown)
			break
		}
		fmt.Fprintln(e.stdout, name)
	}
	fmt.Fprintf(e.stdout, "Remove these %d pages? [y/N] ", len(gone))
	line, _ := bufio.NewReader(e.stdin).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true
	}
	return false
}

func (e environment) isTerminal() bool {
	f, ok := e.stderr.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
