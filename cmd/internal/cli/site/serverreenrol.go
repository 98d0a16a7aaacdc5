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

func serverReEnrolCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var enrolment string
	cmd := &cobra.Command{
		Use: "re-enrol SERVER", Short: "Have the agent forget a server's TPM", Args: cobra.ExactArgs(1),
		Long: "Have the agent forget the TPM that is enrolled for a server, as after its TPM was changed. The next\n" +
			"discovery enrols the one that the server has then.",
		Example: "  rackctl server re-enrol n1\n  rackctl server discover n1",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			name := args[0]
			if enrolment == "" {
				s, err := api.Get[*resource.Server](cmd.Context(), c, name)
				if err != nil {
					return err
				}
				if s.Status.Report == nil || s.Status.Report.TPM == nil {
					return protocol.Errorf(protocol.CodeConflict, "re-enrol server", "server %q has no TPM enrolled", name).
						WithHint("there is nothing to forget; rackctl server discover %s enrols one, see docs/guide/attest.md", name)
				}
				enrolment = s.Status.Report.TPM.Enrolment
			}
			s, err := c.Servers.ReEnrol(cmd.Context(), name, api.ReEnrolServer{Enrolment: enrolment})
			if err != nil {
				return err
			}
			pr.Progress("server %s: its TPM is forgotten as soon as its agent hears of it; rackctl server discover %s enrols the one it has", name, name)
			return pr.Show(kinds.View(resource.KindServer, s))
		},
	}
	cmd.Flags().StringVar(&enrolment, "enrolment", "", "the enrolment to forget (default: the one that is reported now)")
	return cmd
}
