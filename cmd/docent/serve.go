package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"docent/db"
	"docent/handlers"
	"docent/internal/account"
	"docent/internal/editing"
	"docent/internal/job"
)

// A stop takes at most ten seconds: running answers get most of that to finish,
// the rest is for storing those that did not.
const (
	answersGrace = 7 * time.Second
	serverGrace  = 9 * time.Second
)

// serve runs the site until ctx ends.
func serve(ctx context.Context, env environment, flags *flag.FlagSet, args []string) (err error) {
	if _, err := env.parse(flags, args); err != nil {
		return err
	}
	env.log.Info("docent starts", "settings", env.settings)
	// First of all: when the port is taken nothing has to be undone.
	listener, err := net.Listen("tcp", env.settings.listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer listener.Close()
	a, err := open(ctx, env)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.db.Close()) }()
	if err := db.Exclusive(ctx, a.db, func() error { return a.firstStart(ctx) }); err != nil {
		return err
	}
	answers, err := a.newAnswers(ctx)
	if err != nil {
		return err
	}
	job.Handle(a.queue, func(ctx context.Context, _ cleanUp) error {
		return errors.Join(answers.Purge(ctx), a.accounts.Cleanup(ctx), editing.New(a.db).Purge(ctx))
	})
	job.Every(a.queue, 10*time.Minute, cleanUp{})
	a.keepExternalSites()
	job.Handle(a.queue, func(ctx context.Context, _ sweepFiles) error { return a.content.Sweep(ctx) })
	job.Every(a.queue, 6*time.Hour, sweepFiles{})
	if err := a.queue.Start(ctx); err != nil {
		return err
	}
	h, err := handlers.New(ctx, handlers.Deps{
		DB: a.db, Config: a.config, Accounts: a.accounts, Content: a.content, Editing: editing.New(a.db), Search: a.search, Answers: answers, Jobs: a.queue, Log: a.log,
		BaseURL: a.settings.base, TrustedProxies: a.settings.proxies, ConfigWritable: a.settings.configWritable, Development: a.settings.dev,
	})
	if err != nil {
		return err
	}
	// Streams watch turns that may run elsewhere: they end with this context.
	requests, endRequests := context.WithCancel(context.WithoutCancel(ctx))
	defer endRequests()
	server := &http.Server{
		Handler:           h.Echo(),
		BaseContext:       func(net.Listener) context.Context { return requests },
		ConnContext:       handlers.Connections,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       60 * time.Second,
		WriteTimeout:      90 * time.Second, // event streams move theirs
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelWarn),
	}
	var wg sync.WaitGroup
	wg.Go(func() { // the first question should not wait for what all of them need
		if err := a.search.Warm(ctx); err != nil && ctx.Err() == nil {
			a.log.Warn("warm the search index", "err", err)
		}
	})
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	fmt.Fprintf(a.stdout, "Docent is ready: %s\n", readyAddress(a.settings, listener))

	select {
	case err = <-failed:
	case <-ctx.Done():
		a.log.Info("docent stops")
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), serverGrace)
	defer cancel()
	wg.Go(func() {
		grace, cancel := context.WithTimeout(stop, answersGrace)
		defer cancel()
		answers.Close(grace)
		endRequests()
	})
	wg.Go(func() {
		if e := a.queue.Stop(stop); e != nil {
			a.log.Warn("stop job queue", "err", e)
		}
	})
	if e := server.Shutdown(stop); e != nil {
		server.Close()
	}
	wg.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// readyAddress is where people reach the site: with port 0 the system chose one.
func readyAddress(s *settings, l net.Listener) string {
	if _, port, _ := net.SplitHostPort(s.listen); port == "0" {
		return "http://" + l.Addr().String()
	}
	return s.base.String()
}

// firstStart fills what an empty database lacks: an administrator and, unless it
// is turned off, the demo site.
func (a *app) firstStart(ctx context.Context) error {
	token, err := a.accounts.EnsureAdmin(ctx, a.settings.adminPassword)
	if err != nil {
		return fmt.Errorf("DOCENT_ADMIN_PASSWORD: %w", err)
	}
	if p := a.settings.adminPassword; p != "" {
		if fault := account.PasswordFault(p, "admin"); fault != "" {
			a.log.Warn("DOCENT_ADMIN_PASSWORD is weak: it " + fault)
		}
	}
	if token != "" {
		fmt.Fprintf(a.stdout, "\nThis is the first start. Sign in as admin, once and within a day, at\n%s\nand set a password there.\n\n", a.signInURL(token))
	}
	if !a.settings.demo {
		return nil
	}
	if any, err := a.content.AnyNodes(ctx); err != nil || any {
		return err
	}
	return a.loadDemo(ctx)
}
