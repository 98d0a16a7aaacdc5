package site

import (
	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
)

func serverCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "server", Short: "Accept what a server shows, take over its system, discover it again, forget its TPM, and mark work on its firmware", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(serverAcceptCmd(hubs, src, pr), serverAdoptCmd(hubs, pr), serverDiscoverCmd(hubs, pr), serverFirmwareCmd(hubs, pr), serverReEnrolCmd(hubs, pr))
	return cmd
}
