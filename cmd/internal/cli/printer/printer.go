package printer

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/terminal"
	"rackboot/protocol/resource"
)

// Printer writes all results. Commands say what there is; the printer knows the
// forms.
type Printer struct {
	Out    io.Writer // results
	Err    io.Writer // all else
	Form   string
	Getenv func(string) string // nil is the process's

	shape shape // of a form with an argument
	open  bool  // a line is on the screen that is written again
}

// Flags adds --output, which all commands have.
func (p *Printer) Flags(root *cobra.Command) {
	root.PersistentFlags().StringVarP(&p.Form, "output", "o", FormTable, formHelp)
}

// Tabular reports whether the form is one that people read: a table, or a wide one.
func (p *Printer) Tabular() bool { return p.Form == FormTable || p.Form == FormWide }

// Column is one column of a table.
type Column struct {
	Name string
	Wide bool // only with -o wide
	// Spare is a column that a screen without room for all goes without.
	Spare bool
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
	Tones []Tone   // of the cells; nil for none
	// Keys change when a cell says something else, and not when it is only older; nil is the cells.
	Keys []string
}

// View is a list of things of one kind, or with single one of them.
type View struct {
	Columns  []Column
	Items    []Item
	Single   bool
	NoHeader bool
}

// list is several values together.
type list struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Items      []any  `json:"items"`
}

// Show shows a view in the form that was asked for.
func (p *Printer) Show(v View) error { return p.ShowAll(v.Single, v) }

// ShowAll shows views of several kinds, with single one thing alone.
func (p *Printer) ShowAll(single bool, views ...View) error {
	p.Settle()
	switch {
	case p.Form == FormName:
		for _, v := range views {
			for _, it := range v.Items {
				fmt.Fprintln(p.Out, it.Name)
			}
		}
		return nil
	case !p.Tabular():
		all := list{resource.APIVersion, "List", []any{}}
		noHeader := false
		for _, v := range views {
			noHeader = noHeader || v.NoHeader
			for _, it := range v.Items {
				all.Items = append(all.Items, it.Value)
			}
		}
		var whole any = all
		if single {
			whole = all.Items[0]
		}
		if p.shape != nil {
			return p.shaped(whole, all.Items, noHeader)
		}
		return p.Encode(whole)
	}
	for i, v := range views {
		if i > 0 {
			fmt.Fprintln(p.Out)
		}
		if err := p.Table(v); err != nil {
			return err
		}
	}
	return nil
}

// Fact is one line of a description: "Phase: Reserved".
type Fact [2]string

// Describe shows one thing at length where show would have a table.
func (p *Printer) Describe(v View, facts []Fact, text string) error {
	if !p.Tabular() {
		return p.Show(v)
	}
	p.Settle()
	var rows [][]string
	for _, f := range facts {
		if text := Dash(f[1]); text != "-" { // what is not there is not said
			rows = append(rows, []string{f[0] + ":", text})
		}
	}
	if err := p.wrapped(rows); err != nil {
		return err
	}
	_, err := io.WriteString(p.Out, p.Broken(terminal.Text(text)))
	return err
}

// Text shows a result for which a sentence is better than a table.
func (p *Printer) Text(value any, names []string, text string) error {
	p.Settle()
	switch {
	case p.Form == FormName:
		text = strings.Join(names, "\n")
	case p.shape != nil:
		return p.shaped(value, nil, false)
	case !p.Tabular():
		return p.Encode(value)
	}
	_, err := fmt.Fprintln(p.Out, p.Broken(text))
	return err
}

// Encode writes a value as JSON or YAML.
func (p *Printer) Encode(value any) error {
	text, err := p.encoded(value)
	if err == nil {
		_, err = io.WriteString(p.Out, text)
	}
	return err
}
