package boot

import (
	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
)

// Commands are the verbs of what servers boot.
func Commands(hubs *client.Hubs, src *files.Input, pr *printer.Printer) []*cobra.Command {
	return []*cobra.Command{
		bootEnvCmd(hubs, src, pr),
		ignitionCmd(hubs, src, pr),
		bootCertCmd(pr),
		traceCmd(hubs, pr),
		probeCmd(pr),
	}
}
