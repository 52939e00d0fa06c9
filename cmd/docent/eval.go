package main

import (
	"context"
	"flag"
)

func evaluate(ctx context.Context, env environment, flags *flag.FlagSet, args []string) error {
	return nil
}
