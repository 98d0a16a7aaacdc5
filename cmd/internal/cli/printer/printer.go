package printer

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/manifest"
	"rackboot/cmd/internal/terminal"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// The forms of output.
const (
	FormTable = "table"
	FormWide  = "wide"
	FormJSON  = "json"
	FormYAML  = "yaml"
	FormName  = "name"
)

// Printer writes all results. Commands say what there is; the printer knows the
// forms.
type Printer struct {
	Out  io.Writer // results
	Err  io.Writer // all else
	Form string
}

// Flags adds --output, which all commands have.
func (p *Printer) Flags(root *cobra.Command) {
	root.PersistentFlags().StringVarP(&p.Form, "output", "o", FormTable, "table, wide, json, yaml or name")
}

// Progress says something that is no result.
func (p *Printer) Progress(format string, args ...any) { fmt.Fprintf(p.Err, format+"\n", args...) }

// Telling says each state of something.
func (p *Printer) Telling(what string) func(state string) {
	return func(state string) { p.Progress("%s: %s", what, state) }
}

// Check refuses a form that there is not.
func (p *Printer) Check() error {
	forms := []string{FormTable, FormWide, FormJSON, FormYAML, FormName}
	if !slices.Contains(forms, p.Form) {
		return protocol.Errorf(protocol.CodeInvalid, "", "output %q is not one of %s", p.Form, strings.Join(forms, ", "))
	}
	return nil
}

// Tabular reports whether the form is one that people read: a table, or a wide one.
func (p *Printer) Tabular() bool { return p.Form == FormTable || p.Form == FormWide }

// Column is one column of a table.
type Column struct {
	Name string
	Wide bool // only with -o wide
}

// Columns are those that are always shown, separated by spaces, and those of -o wide.
func Columns(narrow string, wide ...string) []Column {
	var out []Column
	for n := range strings.FieldsSeq(narrow) {
		out = append(out, Column{Name: n})
	}
	for _, n := range wide {
		out = append(out, Column{Name: n, Wide: true})
	}
	return out
}

// Item is one thing to print.
type Item struct {
	Value any      // for json and yaml
	Name  string   // for name: server/n1
	Cells []string // one per column
}

// View is a list of things of one kind, or with single one of them.
type View struct {
	Columns  []Column
	Items    []Item
	Single   bool
	NoHeader bool
}

// Show shows a view in the form that was asked for.
func (p *Printer) Show(v View) error {
	switch p.Form {
	case FormJSON, FormYAML:
		if v.Single {
			return p.Encode(v.Items[0].Value)
		}
		list := struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Items      []any  `json:"items"`
		}{resource.APIVersion, "List", []any{}}
		for _, it := range v.Items {
			list.Items = append(list.Items, it.Value)
		}
		return p.Encode(list)
	case FormName:
		for _, it := range v.Items {
			fmt.Fprintln(p.Out, it.Name)
		}
		return nil
	}
	return p.Table(v)
}

// Table shows a view as a table, whatever the form is but wide.
func (p *Printer) Table(v View) error {
	w := tabwriter.NewWriter(p.Out, 0, 0, 3, ' ', 0)
	line := func(cells func(int) string) {
		var shown []string
		for i, c := range v.Columns {
			if !c.Wide || p.Form == FormWide {
				shown = append(shown, cells(i))
			}
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join(shown, "\t"), "\t"))
	}
	if !v.NoHeader {
		line(func(i int) string { return v.Columns[i].Name })
	}
	for _, it := range v.Items {
		line(func(i int) string { return Dash(it.Cells[i]) })
	}
	return w.Flush()
}

// Fact is one line of a description: "Phase: Reserved".
type Fact [2]string

// Describe shows one thing at length where show would have a table.
func (p *Printer) Describe(v View, facts []Fact, text string) error {
	if !p.Tabular() {
		return p.Show(v)
	}
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	for _, f := range facts {
		fmt.Fprintf(w, "%s:\t%s\n", f[0], Dash(f[1]))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(p.Out, text)
	return err
}

// Text shows a result for which a sentence is better than a table.
func (p *Printer) Text(value any, names []string, text string) error {
	switch p.Form {
	case FormJSON, FormYAML:
		return p.Encode(value)
	case FormName:
		text = strings.Join(names, "\n")
	}
	_, err := fmt.Fprintln(p.Out, text)
	return err
}

// Encode writes a value as JSON or YAML.
func (p *Printer) Encode(value any) error {
	raw, err := json.MarshalIndent(value, "", "  ")
	if err == nil && p.Form == FormYAML {
		if raw, err = manifest.FromJSON(raw); err == nil {
			raw = []byte(strings.TrimSuffix(string(raw), "\n"))
		}
	}
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, "print", "%w", err)
	}
	_, err = fmt.Fprintf(p.Out, "%s\n", terminal.JSON(raw))
	return err
}
