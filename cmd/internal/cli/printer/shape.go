package printer

import (
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"text/template"

	"rackboot/cmd/internal/cli/path"
	"rackboot/cmd/internal/terminal"
	"rackboot/protocol"
	"rackboot/protocol/selector"
)

// shape writes values by a template that somebody gave with --output.
type shape interface {
	// write writes one value as JSON has it; items are its items, or the value alone.
	write(w io.Writer, whole any, items []any, noHeader bool) error
}

func newShape(form, argument string) (shape, error) {
	switch form {
	case FormJSONPath:
		p, err := path.Template(argument)
		return pathShape{p}, err
	case FormTemplate:
		t, err := template.New("output").Funcs(templateFuncs()).Parse(argument)
		return goShape{t}, err
	}
	return newColumns(argument)
}

// templateFuncs are those that kubectl adds to the language's own.
func templateFuncs() template.FuncMap {
	return template.FuncMap{
		"exists": func(value any, keys ...string) bool {
			for _, k := range keys {
				m, _ := value.(map[string]any)
				next, there := m[k]
				if !there {
					return false
				}
				value = next
			}
			return true
		},
		"base64decode": func(s string) (string, error) {
			raw, err := base64.StdEncoding.DecodeString(s)
			return string(raw), err
		},
	}
}

type pathShape struct{ path.Path }

func (s pathShape) write(w io.Writer, whole any, _ []any, _ bool) error {
	var b strings.Builder
	if err := s.Execute(&b, whole); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

type goShape struct{ *template.Template }

func (s goShape) write(w io.Writer, whole any, _ []any, _ bool) error { return s.Execute(w, whole) }

// columnShape is a table whose columns somebody chose.
type columnShape []chosen

type chosen struct {
	name string
	path path.Path
}

// newColumns reads NAME:PATH,NAME:PATH, or of a file two lines: the names, and below them the paths.
func newColumns(text string) (columnShape, error) {
	var pairs [][2]string
	if lines := strings.Split(strings.TrimSpace(text), "\n"); len(lines) == 2 {
		names, paths := strings.Fields(lines[0]), strings.Fields(lines[1])
		if len(names) != len(paths) {
			return nil, fmt.Errorf("%d names and %d paths", len(names), len(paths))
		}
		for i := range names {
			pairs = append(pairs, [2]string{names[i], paths[i]})
		}
	} else {
		for part := range strings.SplitSeq(strings.TrimSpace(text), ",") {
			name, expression, ok := strings.Cut(part, ":")
			if !ok || name == "" || expression == "" {
				return nil, fmt.Errorf("%q is not NAME:PATH", part)
			}
			pairs = append(pairs, [2]string{name, expression})
		}
	}
	var out columnShape
	for _, p := range pairs {
		parsed, err := path.Parse(p[1])
		if err != nil {
			return nil, err
		}
		out = append(out, chosen{p[0], parsed})
	}
	return out, nil
}

func (s columnShape) write(w io.Writer, _ any, items []any, noHeader bool) error {
	var rows [][]string
	if !noHeader {
		var names []string
		for _, c := range s {
			names = append(names, c.name)
		}
		rows = append(rows, names)
	}
	for _, it := range items {
		var row []string
		for _, c := range s {
			text, err := c.path.Text(it)
			if err != nil {
				return err
			}
			row = append(row, terminal.Cell(text))
		}
		rows = append(rows, row)
	}
	return writeRows(w, rows, gap)
}

// shaped writes values by the template of --output.
func (p *Printer) shaped(whole any, items []any, noHeader bool) error {
	plain, err := selector.Plain(whole)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, "print", "%w", err)
	}
	each := []any{plain}
	if items != nil {
		each = nil
		for _, it := range items {
			one, err := selector.Plain(it)
			if err != nil {
				return protocol.Errorf(protocol.CodeInternal, "print", "%w", err)
			}
			each = append(each, one)
		}
	}
	var b strings.Builder
	if err := p.shape.write(&b, plain, each, noHeader); err != nil {
		return protocol.Errorf(protocol.CodeInvalid, "print", "the template of -o %s does not fit: %w", p.Form, err).
			WithHint("-o yaml shows what there is")
	}
	_, err = io.WriteString(p.Out, terminal.Text(b.String()))
	return err
}
