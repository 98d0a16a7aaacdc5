package hold

import (
	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
)

// Commands are the verbs that stop and start servers.
func Commands(hubs *client.Hubs, src *files.Input, pr *printer.Printer) []*cobra.Command {
	return []*cobra.Command{
		holdCmd(hubs, src, pr),
		fenceCmd(hubs, pr),
		releaseCmd(hubs, src, pr),
		confirmDownCmd(hubs, pr),
		receiptCmd(hubs, pr),
		rebootCmd(hubs, src, pr),
		resumeCmd(hubs, pr),
		powerOffCmd(hubs, src, pr),
		cancelCmd(hubs, pr),
		bulkCmd(hubs, pr),
		maintenanceCmd(hubs, pr),
		freezeCmd(hubs, pr),
		thawCmd(hubs, pr),
	}
}
