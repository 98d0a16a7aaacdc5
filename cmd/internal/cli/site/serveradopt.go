package site

import (
	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/kinds"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func serverAdoptCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var r api.AdoptRequest
	cmd := &cobra.Command{
		Use: "adopt SERVER (--provisioned IMAGE@DIGEST | --reprovision) --reason REASON", Short: "Keep what is installed on a claimed server, or let it be installed over", Args: cobra.ExactArgs(1),
		Long: "Say what becomes of a claimed server that may have an installed system; see the condition\n" +
			"NeedsDecision. With --provisioned the server keeps it, boots from its disk and never from the\n" +
			"network: write the image as the claim does, with the digest that is installed. With\n" +
			"--reprovision its claim goes on to a first boot, which overwrites the disk; the server is not\n" +
			"powered off for that. Either is kept with your name and the reason.",
		Example: "  rackctl server adopt n1 --provisioned registry.example/os:1@sha256:… --reason 'installed by the former tool'\n" +
			"  rackctl server adopt n2 --reprovision --reason 'nothing of value on it'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.Validate(); err != nil {
				return err
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			cl, err := c.Servers.Adopt(cmd.Context(), args[0], r)
			if err != nil {
				return err
			}
			if r.Reprovision {
				pr.Progress("server %s: may be installed for claim %s", args[0], cl.Metadata.Name)
			} else {
				pr.Progress("server %s: keeps its system for claim %s", args[0], cl.Metadata.Name)
			}
			return pr.Show(kinds.View(resource.KindClaim, cl))
		},
	}
	cmd.Flags().StringVar(&r.Provisioned, "provisioned", "", "the image that is installed, with its digest")
	cmd.Flags().BoolVar(&r.Reprovision, "reprovision", false, "let the server be installed over what it has")
	cmd.Flags().StringVar(&r.Reason, "reason", "", "how it is known, or why; kept")
	return cmd
}
