package backup

import (
	"io"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
)

// Commands are the verbs of backups.
func Commands(hubs *client.Hubs, stdin io.Reader, pr *printer.Printer) []*cobra.Command {
	cmd := &cobra.Command{
		Use: "backup", Short: "Make copies of the hub, and see whether they are whole", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(createCmd(hubs, pr), listCmd(pr), verifyCmd(stdin, pr), pruneCmd(pr), statusCmd(hubs, pr))
	return []*cobra.Command{cmd, restoreCmd(stdin, pr)}
}
