package object

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
)

// kindValue is a kind, for other programs.
type kindValue struct {
	Name       string        `json:"name"`
	Kind       resource.Kind `json:"kind"`
	APIVersion string        `json:"apiVersion"`
	Verbs      []string      `json:"verbs"`
}

func apiResourcesCmd(pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "api-resources", Short: "List the kinds of resources", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := printer.View{Columns: printer.Columns("NAME APIVERSION KIND APPLIED VERBS")}
			for _, k := range resource.Kinds() {
				value := kindValue{k.Plural(), k, resource.APIVersion, []string{"get"}}
				if k.Appliable() {
					value.Verbs = append(value.Verbs, "apply", "delete")
				}
				v.Items = append(v.Items, printer.Item{Value: value, Name: k.Plural(), Cells: []string{
					value.Name, value.APIVersion, string(k), strconv.FormatBool(k.Appliable()), strings.Join(value.Verbs, ","),
				}})
			}
			return pr.Show(v)
		},
	}
}
