//go:debug x509negativeserial=1

// Command rackctl is the command line of Rackboot: it tells the hub what servers shall
// boot, holds them off, and shows what happened.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"rackboot/cmd/internal/cli"
)

// version is set by the build of a release.
var version = "0.2.0-dev"

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return cli.Run(ctx, cli.Config{
		Args: os.Args[1:], Getenv: os.Getenv, Version: version,
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
	})
}
