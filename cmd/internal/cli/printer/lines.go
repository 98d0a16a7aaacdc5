package printer

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Lines writes rows in columns, under a heading.
func Lines(w io.Writer, heading string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	if heading != "" {
		fmt.Fprintf(w, "\n%s:\n", heading)
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = Dash(cell)
		}
		indent := "  "
		if heading == "" {
			indent = ""
		}
		fmt.Fprintln(tab, indent+strings.Join(row, "\t"))
	}
	_ = tab.Flush() // into memory, or where the printer's errors show
}
