package site

import (
	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
)

// Commands are the verbs of what a site has.
func Commands(hubs *client.Hubs, src *files.Input, pr *printer.Printer) []*cobra.Command {
	return []*cobra.Command{
		initCmd(hubs, src, pr),
		rackCmd(hubs, pr),
		bmcCmd(hubs, src, pr),
		serverCmd(hubs, src, pr),
		mirrorCmd(hubs, pr),
		firmwareCmd(hubs, src, pr),
		doctorCmd(hubs, pr),
		statusCmd(hubs, pr),
	}
}
