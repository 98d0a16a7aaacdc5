package agentpackage

import (
	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
)

// Command is rackctl agent-package.
func Command(getenv func(string) string, hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "agent-package", Short: "Make and push the packages that agents upgrade themselves with", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(keygenCmd(pr), makeCmd(getenv, pr), pushCmd(hubs, pr), getCmd(hubs, pr), deleteCmd(hubs, pr))
	return cmd
}
