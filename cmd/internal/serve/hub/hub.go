package hub

import (
	"io"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/serve"
	"rackboot/hub/daemon"
)

// Main is rackboot-hub; it returns the exit code.
func Main(args []string, version string, _, stderr io.Writer) int {
	c := serve.Root("rackboot-hub", "Holds what people want of their racks and sends it to the agents", version)
	config := c.PersistentFlags().String("config", "/etc/rackboot/hub.yaml", "the hub's file")
	run := &cobra.Command{Use: "run", Short: "Serve until stopped", Args: cobra.NoArgs}
	log := serve.LogFlags(run, stderr)
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
	return serve.Execute(c, args, stderr)
}
