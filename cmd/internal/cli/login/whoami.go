package login

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/api"
)

func whoamiCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "whoami", Short: "Show who the hub takes you for, and what you may do", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			me, err := c.Whoami(cmd.Context())
			if err != nil {
				return err
			}
			return pr.Show(whoamiView(me))
		},
	}
}

func whoamiView(me api.Whoami) printer.View {
	scope := "everything"
	if len(me.Scope) > 0 {
		var labels []string
		for _, k := range slices.Sorted(maps.Keys(me.Scope)) {
			labels = append(labels, k+"="+me.Scope[k])
		}
		scope = strings.Join(labels, ",")
	}
	glass := "no"
	if me.BreakGlass {
		glass = "yes"
	}
	return printer.View{
		Columns: printer.Columns("NAME ROLES SCOPE BREAK-GLASS", "MAY"), Single: true,
		Items: []printer.Item{{Value: me, Name: me.Name, Cells: []string{me.Name, strings.Join(me.Roles, ","), scope, glass, strings.Join(me.May, ",")}}},
	}
}
