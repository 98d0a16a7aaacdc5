// Command rackboot-probe runs on a server: as init of an initramfs it collects an
// inventory, reports it and switches the server off; as a command it reports what
// became of an installation.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"rackboot/netboot/probe"
	"rackboot/protocol"
)

func main() { os.Exit(run()) }

func run() int {
	args := os.Args[1:]
	if os.Getpid() == 1 {
		args = nil // the kernel hands init what it does not know itself
	}
	cfg, err := probe.Parse(args, os.Stderr)
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		cfg.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
		err = probe.Run(ctx, cfg)
	}
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintln(os.Stderr, "rackboot-probe:", err)
	return protocol.CodeOf(err).ExitCode()
}
