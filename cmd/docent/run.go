package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"golang.org/x/term"
)

// A command is one word after the program's name.
type command struct {
	name  string
	args  string // what may follow the flags, for the usage text
	about string
	run   func(ctx context.Context, env environment, flags *flag.FlagSet, args []string) error
}

// environment is what a command runs in.
type environment struct {
	settings *settings // complete once the flags are parsed
	stdin    io.Reader
	stdout   io.Writer
	stderr   io.Writer
	log      *slog.Logger
}

var commands = []command{
	{"serve", "", "serve the site", serve},
	{"migrate", "", "bring the database's schema up to date", migrate},
	{"import", "DIR", "import a folder of Markdown files, a WordPress export or another site", importContent},
	{"index", "", "build the search index anew", index},
	{"eval", "", "measure finding and answers against a file of questions", evaluate},
	{"user", "add|password|link NAME", "create accounts, set passwords, make sign-in links", user},
}

// run is the program without its process: what tests start. It returns when the
// command is done or, for serve, after ctx ends.
func run(ctx context.Context, args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) error {
	if len(args) == 0 || args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		usage(stdout)
		return nil
	}
	for _, c := range commands {
		if c.name != args[0] {
			continue
		}
		s, err := settingsFrom(getenv)
		if err != nil {
			return err
		}
		flags := flag.NewFlagSet("docent "+c.name, flag.ContinueOnError)
		flags.SetOutput(stderr)
		flags.Usage = func() {
			fmt.Fprintf(stderr, "docent %s [flags] %s: %s\n\nFlags:\n", c.name, c.args, c.about)
			flags.PrintDefaults()
		}
		s.flags(flags)
		level := slog.LevelWarn // what a command has to say it prints itself
		if c.name == "serve" {
			level = slog.LevelInfo
		}
		env := environment{settings: s, stdin: stdin, stdout: stdout, stderr: stderr, log: newLogger(stderr, level)}
		err = c.run(ctx, env, flags, args[1:])
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	usage(stderr)
	return fmt.Errorf("there is no command %q", args[0])
}

// parse reads the flags, which may also stand behind other arguments, and checks
// the settings. It returns the other arguments.
func (e environment) parse(flags *flag.FlagSet, args []string) ([]string, error) {
	var rest []string
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		if flags.NArg() == 0 {
			break
		}
		rest = append(rest, flags.Arg(0))
		args = flags.Args()[1:]
	}
	return rest, e.settings.check()
}

func usage(w io.Writer) {
	fmt.Fprintln(w, "Docent answers visitors' questions from a site's own content.\n\nCommands:")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-36s %s\n", strings.TrimSpace(c.name+" "+c.args), c.about)
	}
	fmt.Fprintln(w, "\ndocent COMMAND -h lists a command's flags. Every flag has an environment variable.")
}

// newLogger writes text for people at a terminal and JSON for machines.
func newLogger(w io.Writer, level slog.Level) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return slog.New(slog.NewTextHandler(w, opts))
	}
	return slog.New(slog.NewJSONHandler(w, opts))
}
