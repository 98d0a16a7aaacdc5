package simulate

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"rackboot/integration/sim"
	"rackboot/protocol"
)

// firstImage is what the registry has when it starts.
const firstImage = "demo:1"

// rack serves simulated machines until stopped.
func rack(stdout, stderr io.Writer) *cobra.Command {
	c := &cobra.Command{Use: "rack", Short: "Serve the BMCs of simulated machines, and print their addresses", Args: cobra.NoArgs}
	c.Long = "Serve the BMCs of simulated machines until stopped, and print a line of JSON for each once all are up.\n\n" +
		"The machines are those of a file, or with --machines so many on this host: BMCs at 127.0.0.1:8001 and\n" +
		"the ports after it, user name and password demo, and an agent that listens for DHCP at 127.0.0.1:6767.\n" +
		"With --capture each of those BMCs shows what the one showed that rackctl bmc probe --direct --record read."
	config := c.Flags().String("config", "rack.yaml", "the rack's file")
	machines := c.Flags().Int("machines", 0, "how many machines, without a file")
	capture := c.Flags().String("capture", "", "with --machines: a file of rackctl bmc probe --direct --record, to be each machine's BMC")
	registry := c.Flags().String("registry", "", "address:port of an image registry, which has "+firstImage+" and forgets all when it ends; none without")
	c.MarkFlagsMutuallyExclusive("config", "machines")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		load := func() (sim.RackConfig, error) { return sim.LoadRackConfig(*config) }
		if c.Flags().Changed("machines") {
			load = func() (sim.RackConfig, error) { return sim.LoopbackRack(*machines, *capture) }
		} else if *capture != "" {
			return protocol.Errorf(protocol.CodeInvalid, "", "--capture is for --machines").WithHint("in a file, a machine has the field capture")
		}
		cfg, err := load()
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
			r, errStart := startRegistry(c.Context(), *registry)
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

// startRegistry starts an image registry that has firstImage.
func startRegistry(ctx context.Context, address string) (*sim.Registry, error) {
	r, err := sim.StartRegistry(address)
	if err != nil {
		return nil, err
	}
	if err := r.PushHere(ctx, firstImage, image(firstImage)); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}
