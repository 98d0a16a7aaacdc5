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
	var can string
	cmd := &cobra.Command{
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
			if can != "" {
				return answer(pr, me, can)
			}
			if err := pr.Show(whoamiView(me)); err != nil || !pr.Tabular() {
				return err
			}
			rights := make([][]string, len(me.May))
			for i, op := range me.May {
				rights[i] = []string{op}
			}
			printer.Lines(pr.Out, "May", rights)
			return nil
		},
	}
	cmd.Flags().StringVar(&can, "can", "", "whether you may do this: yes, or no with exit code 1")
	return cmd
}

// exitNo is the exit code of a right that somebody does not have, that of kubectl auth can-i.
const exitNo = 1

// answer says whether somebody may do something.
func answer(pr *printer.Printer, me api.Whoami, can string) error {
	if slices.Contains(me.May, can) {
		return pr.Text(true, []string{"yes"}, "yes")
	}
	if err := pr.Text(false, []string{"no"}, "no"); err != nil {
		return err
	}
	return printer.Exit(exitNo)
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
