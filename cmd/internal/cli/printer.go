package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"rackboot/cmd/internal/manifest"
	"rackboot/cmd/internal/terminal"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// The forms of output.
const (
	formTable = "table"
	formWide  = "wide"
	formJSON  = "json"
	formYAML  = "yaml"
	formName  = "name"
)

// printer writes all results. Commands say what there is; the printer knows the
// forms.
type printer struct {
	out  io.Writer
	form string
}

func (p printer) check() error {
	forms := []string{formTable, formWide, formJSON, formYAML, formName}
	if !slices.Contains(forms, p.form) {
		return protocol.Errorf(protocol.CodeInvalid, "", "output %q is not one of %s", p.form, strings.Join(forms, ", "))
	}
	return nil
}

// column is one column of a table.
type column struct {
	name string
	wide bool // only with -o wide
}

// item is one thing to print.
type item struct {
	value any      // for json and yaml
	name  string   // for name: server/n1
	cells []string // one per column
}

// view is a list of things of one kind, or with single one of them.
type view struct {
	columns  []column
	items    []item
	single   bool
	noHeader bool
}

func (p printer) show(v view) error {
	switch p.form {
	case formJSON, formYAML:
		if v.single {
			return p.encode(v.items[0].value)
		}
		list := struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Items      []any  `json:"items"`
		}{resource.APIVersion, "List", []any{}}
		for _, it := range v.items {
			list.Items = append(list.Items, it.value)
		}
		return p.encode(list)
	case formName:
		for _, it := range v.items {
			fmt.Fprintln(p.out, it.name)
		}
		return nil
	}
	return p.table(v)
}

func (p printer) table(v view) error {
	w := tabwriter.NewWriter(p.out, 0, 0, 3, ' ', 0)
	line := func(cells func(int) string) {
		var shown []string
		for i, c := range v.columns {
			if !c.wide || p.form == formWide {
				shown = append(shown, cells(i))
			}
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join(shown, "\t"), "\t"))
	}
	if !v.noHeader {
		line(func(i int) string { return v.columns[i].name })
	}
	for _, it := range v.items {
		line(func(i int) string { return dash(it.cells[i]) })
	}
	return w.Flush()
}

// fact is one line of a description: "Phase: Reserved".
type fact struct{ name, value string }

// describe shows one thing at length where show would have a table.
func (p printer) describe(v view, facts []fact, text string) error {
	if p.form != formTable && p.form != formWide {
		return p.show(v)
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, f := range facts {
		fmt.Fprintf(w, "%s:\t%s\n", f.name, dash(f.value))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(p.out, text)
	return err
}

// text shows a result for which a sentence is better than a table.
func (p printer) text(value any, names []string, text string) error {
	switch p.form {
	case formJSON, formYAML:
		return p.encode(value)
	case formName:
		text = strings.Join(names, "\n")
	}
	_, err := fmt.Fprintln(p.out, text)
	return err
}

func (p printer) encode(value any) error {
	raw, err := json.MarshalIndent(value, "", "  ")
	if err == nil && p.form == formYAML {
		if raw, err = manifest.FromJSON(raw); err == nil {
			raw = []byte(strings.TrimSuffix(string(raw), "\n"))
		}
	}
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, "print", "%w", err)
	}
	_, err = fmt.Fprintf(p.out, "%s\n", terminal.JSON(raw))
	return err
}

// dash is a text in one line, or a hyphen for none.
func dash(s string) string { return terminal.Cell(s) }
