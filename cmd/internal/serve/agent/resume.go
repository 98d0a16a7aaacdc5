package agent

import (
	"io"

	"github.com/spf13/cobra"

	"rackboot/agent/local"
)

func (d *desk) resumeCmd() *cobra.Command {
	var req local.ResumeRequest
	c := &cobra.Command{
		Use: "resume SERVER --reason REASON", Short: "Boot a server on that something else stopped or started", Args: cobra.ExactArgs(1),
		Long: "Boot a server on that something else stopped or started, as its claim says: also with the hub away.\n\n" +
			"It boots its disk. A first boot that was interrupted is begun anew by the hub's order only: rackctl resume\n" +
			"--retry. A held server is not resumed. What came of it is in rackboot-agent explain.",
		Example: "  rackboot-agent resume n1 --reason 'breaker of row 7 tripped, reset'",
	}
	c.Flags().StringVar(&req.Reason, "reason", "", "what you found at the server")
	c.RunE = func(c *cobra.Command, args []string) error {
		client, err := d.client()
		if err != nil {
			return err
		}
		r, err := client.Resume(c.Context(), args[0], req)
		if err != nil {
			return err
		}
		return d.show(r, func(w io.Writer) {
			row(w, "REQUEST", "SERVER")
			row(w, r.ID, r.Server)
		})
	}
	return c
}
