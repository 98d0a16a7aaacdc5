package audit

import (
	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
)

// Commands are the verbs of what was done, and of what needs an approval.
func Commands(hubs *client.Hubs, src *files.Input, pr *printer.Printer) []*cobra.Command {
	return []*cobra.Command{
		auditCmd(hubs, src, pr),
		eventsCmd(hubs, pr),
		approveCmd(hubs, src, pr),
		keyCmd(pr),
	}
}
