package kinds

import (
	"strings"

	"rackboot/cmd/internal/cli/printer"
)

// cell is a column's name with what a resource has in it.
type cell struct {
	printer.Column
	text string
}

func col(name, text string) cell { return cell{printer.Column{Name: name}, text} }

// wide is a column that only -o wide shows.
func wide(name, text string) cell { return cell{printer.Column{Name: name, Wide: true}, text} }

func labelsText(labels map[string]string) string {
	var out []string
	for _, k := range printer.SortedNames(labels) {
		out = append(out, k+"="+labels[k])
	}
	return strings.Join(out, ",")
}
