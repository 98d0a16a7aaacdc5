package agent

import (
	"github.com/spf13/cobra"

	"rackboot/cmd/internal/terminal"
)

func (d *desk) traceCmd() *cobra.Command {
	var attempt int
	cmd := &cobra.Command{
		Use: "trace SERVER", Short: "Show what the running agent saw of a server's power-on", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			client, err := d.client()
			if err != nil {
				return err
			}
			t, err := client.Trace(c.Context(), args[0], attempt)
			if err != nil {
				return err
			}
			if d.form == "json" {
				return d.show(t, nil)
			}
			return terminal.Trace(d.out, t)
		},
	}
	cmd.Flags().IntVar(&attempt, "attempt", 0, "serial of the power-on (default: the newest)")
	return cmd
}
