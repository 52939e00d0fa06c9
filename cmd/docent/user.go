package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"docent/db"
	"docent/internal/account"
	"docent/internal/config"
)

// user creates accounts, sets passwords and makes sign-in links.
func user(ctx context.Context, env environment, flags *flag.FlagSet, args []string) error {
	roles := flags.String("roles", "", "roles of the new account, separated by commas: editor, administrator")
	rest, err := env.parse(flags, args)
	if err != nil {
		return err
	}
	if len(rest) != 2 {
		flags.Usage()
		return errors.New("user needs what to do and a name: docent user add ada")
	}
	a, err := open(ctx, env)
	if err != nil {
		return err
	}
	defer a.db.Close()
	do, name := rest[0], rest[1]
	if do == "add" {
		var list []string
		for r := range strings.SplitSeq(*roles, ",") {
			if r = strings.TrimSpace(r); r != "" {
				list = append(list, r)
			}
		}
		for _, role := range list {
			if _, err := config.Get[config.Role](ctx, a.config, role); err != nil {
				return fmt.Errorf("there is no role %q", role)
			}
		}
		rec, err := a.accounts.Create(ctx, account.NewAccount{Name: name, Roles: list})
		if err != nil {
			return err
		}
		return a.printLink(ctx, rec)
	}
	rec, err := a.accounts.ByName(ctx, name)
	if errors.Is(err, db.ErrNotFound) {
		return fmt.Errorf("there is no account %q", name)
	}
	if err != nil {
		return err
	}
	switch do {
	case "password":
		password, err := env.readPassword()
		if err != nil {
			return err
		}
		if err := a.accounts.SetPassword(ctx, rec.ID, password); err != nil {
			return err
		}
		fmt.Fprintf(env.stdout, "The password of %s is changed and all its sessions are closed.\n", rec.Name)
		return nil
	case "link":
		return a.printLink(ctx, rec)
	}
	return fmt.Errorf("user cannot %q; it can add, password and link", do)
}

// printLink prints an address that signs an account in, once.
func (a *app) printLink(ctx context.Context, rec account.Record) error {
	token, err := a.accounts.CreateLink(ctx, rec.ID, "")
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "Sign in as %s, once and within a day:\n%s\n", rec.Name, a.signInURL(token))
	return nil
}

func (a *app) signInURL(token string) string {
	return a.settings.base.JoinPath("user", "signin", token).String()
}

// readPassword asks at a terminal, without showing what is typed, and reads a
// line otherwise. An argument would end up in the shell's history.
func (e environment) readPassword() (string, error) {
	if f, ok := e.stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		fmt.Fprint(e.stderr, "New password: ")
		p, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(e.stderr)
		return string(p), err
	}
	line, err := bufio.NewReader(e.stdin).ReadString('\n')
	if line == "" && err != nil {
		return "", errors.New("no password: type it at the prompt or pass it on standard input")
	}
	return strings.TrimRight(line, "\r\n"), nil
}
