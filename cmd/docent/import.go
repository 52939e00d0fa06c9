package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"docent/internal/importer"
)

// importFolder makes pages of a folder of Markdown files.
func importFolder(ctx context.Context, env environment, flags *flag.FlagSet, args []string) error {
	prune := flags.Bool("prune", false, "remove pages whose file is gone; asks first")
	verbose := flags.Bool("v", false, "list every problem")
	yes := flags.Bool("yes", false, "do not ask")
	rest, err := env.parse(flags, args)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		flags.Usage()
		return errors.New("import needs one folder")
	}
	if info, err := os.Stat(rest[0]); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a folder", rest[0])
	}
	a, err := open(ctx, env)
	if err != nil {
		return err
	}
	defer a.db.Close()
	opts := a.importOptions()
	opts.Dir = rest[0]
	if *prune {
		opts.Prune = func(gone []string) bool { return *yes || env.confirm(gone) }
	}
	opts.Progress = importer.ProgressTo(env.stderr, env.isTerminal())
	summary, err := importer.Run(ctx, opts)
	if err != nil {
		return err
	}
	env.report(summary, *verbose)
	return nil
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

// confirm shows what would be removed and asks. Without a terminal nobody can
// answer, so nothing is removed.
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
