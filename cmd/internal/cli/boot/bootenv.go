package boot

import (
	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
)

func bootEnvCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "bootenv", Short: "Choose, check and try out boot environments", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(bootEnvSetCmd(hubs, pr), bootEnvLintCmd(hubs, src, pr), bootEnvRenderCmd(hubs, pr))
	return cmd
}
