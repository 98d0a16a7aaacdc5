package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/protocol/api"
)

func (a *app) whoamiCmd() *cobra.Command {
	return &cobra.Command{
		Use: "whoami", Short: "Show who the hub takes you for, and what you may do", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, _, err := a.client()
			if err != nil {
				return err
			}
			me, err := c.Whoami(cmd.Context())
			if err != nil {
				return err
			}
			return a.print.show(whoamiView(me))
		},
	}
}

func whoamiView(me api.Whoami) view {
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
	return view{
		columns: columns("NAME ROLES SCOPE BREAK-GLASS", "MAY"), single: true,
		items: []item{{value: me, name: me.Name, cells: []string{me.Name, strings.Join(me.Roles, ","), scope, glass, strings.Join(me.May, ",")}}},
	}
}
