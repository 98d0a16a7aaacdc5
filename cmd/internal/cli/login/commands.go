package login

import (
	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
)

// Commands are the verbs of hubs that are known.
func Commands(hubs *client.Hubs, src *files.Input, pr *printer.Printer) []*cobra.Command {
	return []*cobra.Command{
		loginCmd(hubs, src, pr),
		configCmd(hubs, src, pr),
		logoutCmd(hubs, pr),
		whoamiCmd(hubs, pr),
	}
}
