package main

import (
	"context"
	"flag"
	"fmt"
)

// migrate does what every other command does first, for operators who want it
// apart from a start.
func migrate(ctx context.Context, env environment, flags *flag.FlagSet, args []string) error {
	if _, err := env.parse(flags, args); err != nil {
		return err
	}
	a, err := open(ctx, env)
	if err != nil {
		return err
	}
	defer a.db.Close()
	fmt.Fprintln(env.stdout, "The schema is up to date.")
	return nil
}
