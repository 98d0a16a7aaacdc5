package simulate

import (
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
	c.RunE = func(c *cobra.Command, _ []string) error {
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
		log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
		return sim.RunRack(c.Context(), cfg, stdout, log)
	}
	return c
}
