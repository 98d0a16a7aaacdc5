package object

import (
	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
)

// Commands are the verbs on resources of any kind.
func Commands(hubs *client.Hubs, src *files.Input, pr *printer.Printer) []*cobra.Command {
	return []*cobra.Command{
		applyCmd(hubs, src, pr),
		getCmd(hubs, pr),
		describeCmd(hubs, pr),
		annotateCmd(hubs, pr),
		deleteCmd(hubs, pr),
		waitCmd(hubs, pr),
		explainCmd(pr),
		exportCmd(hubs, pr),
		importCmd(hubs, src, pr),
		secretCmd(hubs, src, pr),
	}
}
