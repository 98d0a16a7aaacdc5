package hold

import (
	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
)

// Commands are the verbs that stop and start servers.
func Commands(hubs *client.Hubs, pr *printer.Printer) []*cobra.Command {
	return []*cobra.Command{
		holdCmd(hubs, pr),
		fenceCmd(hubs, pr),
		releaseCmd(hubs, pr),
		confirmDownCmd(hubs, pr),
		receiptCmd(hubs, pr),
		rebootCmd(hubs, pr),
		resumeCmd(hubs, pr),
		powerOffCmd(hubs, pr),
		cancelCmd(hubs, pr),
		maintenanceCmd(hubs, pr),
	}
}
