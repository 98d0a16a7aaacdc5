package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) rackCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "rack", Short: "Let agents join racks", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use: "join-token RACK", Short: "Make a one-time token and print the command that joins an agent", Args: cobra.ExactArgs(1),
		Long: "Make a one-time token and print the command that joins an agent. A rack\n" +
			"has one agent: while it has one, no other can join.",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, hub, err := a.client()
			if err != nil {
				return err
			}
			t, err := c.NewJoinToken(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			// The token goes through the environment: a process list shows arguments.
			text := fmt.Sprintf("# On the agent's host of rack %s, with the hub's CA as ca.pem, once, until %s:\n"+
				"RACKBOOT_JOIN_TOKEN=%s rackboot-agent join --hub %s --ca ca.pem", t.Rack, stamp(&t.Expires), t.Token, hub.URL)
			return a.print.text(t, []string{t.Token}, text)
		},
	})
	return cmd
}
