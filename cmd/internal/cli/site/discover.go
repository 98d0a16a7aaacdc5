package site

import (
	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/kinds"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
)

func serverDiscoverCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "discover SERVER", Short: "Discover a server again", Args: cobra.ExactArgs(1),
		Long: "Discover a server again: boot it into the image of its rack's spec.discovery, which reports\n" +
			"what is in it. That is done by itself for a server that was never discovered. It ends the\n" +
			"condition DiscoveryFailed. Nobody may own the server: it is refused while the server has a\n" +
			"claim or a maintenance, and no claim gets it before it was discovered.",
		Example: "  rackctl server discover n1",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			s, err := c.Servers.Discover(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			pr.Progress("server %s: a discovery was asked for", args[0])
			return pr.Show(kinds.View(resource.KindServer, s))
		},
	}
}
