package site

import (
	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/kinds"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func serverCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "server", Short: "Accept what a server shows, take over its system, discover it again, and mark work on its firmware", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(serverAcceptCmd(hubs, pr), serverAdoptCmd(hubs, pr), serverDiscoverCmd(hubs, pr), serverFirmwareCmd(hubs, pr))
	return cmd
}

func serverAcceptCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var identity string
	cmd := &cobra.Command{
		Use: "accept SERVER", Short: "Accept the board and interfaces that a server shows now", Args: cobra.ExactArgs(1),
		Long: "Accept the board and interfaces that a server shows now. After a change the agent powers\n" +
			"nothing on until that was done; see the condition IdentityChanged.",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			if identity == "" {
				s, err := api.Get[*resource.Server](cmd.Context(), c, args[0])
				if err != nil {
					return err
				}
				if s.Status.Report == nil || s.Status.Report.Identity == "" {
					return protocol.Errorf(protocol.CodeUnavailable, "accept server", "the agent has not reported what board and interfaces server %q has", args[0]).
						WithHint("wait until its BMC was read; rackctl describe server %s", args[0])
				}
				identity = s.Status.Report.Identity
			}
			s, err := c.Servers.Accept(cmd.Context(), args[0], api.AcceptServer{Identity: identity})
			if err != nil {
				return err
			}
			pr.Progress("server %s: identity %s accepted", args[0], identity)
			return pr.Show(kinds.View(resource.KindServer, s))
		},
	}
	cmd.Flags().StringVar(&identity, "identity", "", "the identity to accept (default: the one that is reported now)")
	return cmd
}
