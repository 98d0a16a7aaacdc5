package group

import (
	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
)

// Commands are the verbs of groups of servers.
func Commands(hubs *client.Hubs, src *files.Input, pr *printer.Printer) []*cobra.Command {
	return []*cobra.Command{
		groupCmd(hubs, pr),
		rolloutCmd(hubs, src, pr),
	}
}
