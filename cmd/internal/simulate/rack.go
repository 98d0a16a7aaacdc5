package simulate

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"rackboot/integration/sim"
)

// rack serves simulated machines until stopped.
func rack(stdout, stderr io.Writer) *cobra.Command {
	c := &cobra.Command{Use: "rack", Short: "Serve the BMCs of simulated machines, and print their addresses", Args: cobra.NoArgs}
	config := c.Flags().String("config", "rack.yaml", "the rack's file")
	registry := c.Flags().String("registry", "", "address:port of an image registry, which forgets all when it ends; none without")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		cfg, err := sim.LoadRackConfig(*config)
		if err != nil {
			return err
		}
		// The signal is a person at the machines, for tests in which something else than
		// Rackboot powers one on.
		buttons := make(chan os.Signal, 1)
		signal.Notify(buttons, syscall.SIGUSR1)
		defer signal.Stop(buttons)
		cfg.Buttons = buttons
		if *registry != "" { // before the machines: where they answer, it does
			r, errStart := sim.StartRegistry(*registry)
			if errStart != nil {
				return errStart
			}
			defer func() { err = errors.Join(err, r.Close()) }()
		}
		log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
		return sim.RunRack(c.Context(), cfg, stdout, log)
	}
	return c
}
