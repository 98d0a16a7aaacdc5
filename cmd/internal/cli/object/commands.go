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
		getCmd(hubs, src, pr),
		describeCmd(hubs, pr),
		annotateCmd(hubs, pr),
		labelCmd(hubs, pr),
		patchCmd(hubs, src, pr),
		editCmd(hubs, src, pr),
		diffCmd(hubs, src, pr),
		deleteCmd(hubs, src, pr),
		waitCmd(hubs, pr),
		explainCmd(hubs, pr),
		apiResourcesCmd(pr),
		exportCmd(hubs, pr),
		importCmd(hubs, src, pr),
		secretCmd(hubs, src, pr),
	}
}
