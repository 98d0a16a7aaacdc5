package serve

import (
	"io"

	"github.com/spf13/cobra"

	"rackboot/hub/daemon"
)

// Hub is rackboot-hub.
func Hub(args []string, version string, _, stderr io.Writer) int {
	c := root("rackboot-hub", "Holds what people want of their racks and sends it to the agents", version)
	config := c.PersistentFlags().String("config", "/etc/rackboot/hub.yaml", "the hub's file")
	run := &cobra.Command{Use: "run", Short: "Serve until stopped", Args: cobra.NoArgs}
	log := logFlags(run, stderr)
	run.RunE = func(c *cobra.Command, _ []string) error {
		l, err := log()
		if err != nil {
			return err
		}
		cfg, err := daemon.LoadConfig(*config)
		if err != nil {
			return err
		}
		return daemon.Run(c.Context(), cfg, daemon.Options{Version: version, Logger: l, Ready: func() { l.Info("ready") }})
	}
	c.AddCommand(run)
	return execute(c, args, stderr)
}
