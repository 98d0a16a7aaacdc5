package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func versionCmd(version string, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of rackctl", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return pr.Text(map[string]any{"version": version, "protocol": protocol.Version, "apiVersion": resource.APIVersion},
				[]string{version}, fmt.Sprintf("rackctl %s, protocol %d, %s", version, protocol.Version, resource.APIVersion))
		},
	}
}
