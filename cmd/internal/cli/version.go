package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func (a *app) versionCmd() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of rackctl", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.print.text(map[string]any{"version": a.cfg.Version, "protocol": protocol.Version, "apiVersion": resource.APIVersion},
				[]string{a.cfg.Version}, fmt.Sprintf("rackctl %s, protocol %d, %s", a.cfg.Version, protocol.Version, resource.APIVersion))
		},
	}
}
