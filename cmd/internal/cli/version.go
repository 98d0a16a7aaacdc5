package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// versionValue is what runs, for other programs.
type versionValue struct {
	Version    string `json:"version"`
	Protocol   int    `json:"protocol"`
	APIVersion string `json:"apiVersion"`
	// Hub is the version of the hub; nil where none was asked, or it does not say.
	Hub *string `json:"hub,omitempty"`
}

func versionCmd(version string, hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var alone bool
	cmd := &cobra.Command{
		Use: "version", Short: "Print the versions of rackctl and of the hub", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			value := versionValue{Version: version, Protocol: protocol.Version, APIVersion: resource.APIVersion}
			lines := []string{fmt.Sprintf("rackctl %s, protocol %d, %s", version, protocol.Version, resource.APIVersion)}
			var asked error
			if known, err := hubs.Known(); err != nil {
				return err
			} else if known && !alone {
				var hub string
				if hub, asked = hubVersion(cmd, hubs); asked == nil {
					value.Hub = &hub
					lines = append(lines, "hub "+printer.Dash(hub))
				}
			}
			if err := pr.Text(value, []string{version}, strings.Join(lines, "\n")); err != nil {
				return err
			}
			return asked
		},
	}
	cmd.Flags().BoolVar(&alone, "client", false, "that of rackctl alone, without asking the hub")
	return cmd
}

func hubVersion(cmd *cobra.Command, hubs *client.Hubs) (string, error) {
	c, err := hubs.Connect()
	if err != nil {
		return "", err
	}
	me, err := c.Whoami(cmd.Context())
	return me.Hub, err
}
