package agent

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"rackboot/agent/daemon"
	"rackboot/cmd/internal/serve"
	"rackboot/protocol"
)

func localHolds(config *string, stdout io.Writer) *cobra.Command {
	c := &cobra.Command{
		Use: "local-holds --out FILE", Short: "Write the holds that were placed here, for the hub, while the agent does not run", Args: cobra.NoArgs,
		Long: "Write the holds that were placed at this agent, or that the hub did not name last, to a file that the\n" +
			"agent's key signs. It is for a rack that another agent has taken over: rackctl rack settle RACK --from FILE.\n" +
			"The agent must not run; its database is not changed.",
		Example: "  rackboot-agent local-holds --out r1-1.holds",
	}
	out := c.Flags().String("out", "", "the file to write (required)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *out == "" {
			return protocol.Errorf(protocol.CodeInvalid, "local-holds", "--out is needed").WithHint("--out FILE, which you take to rackctl rack settle RACK --from FILE")
		}
		cfg, err := daemon.LoadConfig(*config)
		if err != nil {
			return err
		}
		if err := serve.CheckOwner("rackboot-agent", cfg.DataDir); err != nil {
			return err
		}
		m, err := daemon.WriteLocalHolds(cfg, *out)
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(stdout, 0, 0, 3, ' ', 0)
		for _, h := range m.Holds {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", h.ID, h.Server, h.Owner, h.Mode)
		}
		fmt.Fprintf(w, "%d holds of agent %s of rack %s are in %s\n", len(m.Holds), m.Agent, m.Rack, *out)
		return w.Flush()
	}
	return c
}
