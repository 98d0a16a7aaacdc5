package printer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"rackboot/cmd/internal/manifest"
	"rackboot/cmd/internal/terminal"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Sequence shows one list of one kind in parts, as they come: the forms that need not see all of it
// first. Close ends it. What it writes of lists is to the byte what ShowAll writes of the whole. A table
// has the columns and widths of its first part; a part with longer cells makes columns wider from there on.
// On a screen a column that says nothing may be left out: where a later part says something in it, the
// table is laid out anew, with its headings.
type Sequence struct {
	p     *Printer
	table *layout // of the parts before; nil at first
	// longest are the longest cells of all columns, of the parts before.
	longest []string
	list    *frame // of JSON and YAML
	begun   bool   // of list
}

// Sequences reports whether the form can be shown in parts.
func (p *Printer) Sequences() bool { return p.shape == nil }

// Sequence begins a list. The form must be one that [Printer.Sequences].
func (p *Printer) Sequence() (*Sequence, error) {
	s := &Sequence{p: p}
	if p.Form == FormJSON || p.Form == FormYAML {
		f, err := p.frame()
		if err != nil {
			return nil, err
		}
		s.list = f
	}
	return s, nil
}

// Show shows the next part. A part without items changes nothing.
func (s *Sequence) Show(v View) error {
	if len(v.Items) == 0 {
		return nil
	}
	s.p.Settle()
	switch {
	case s.list != nil:
		return s.encode(v)
	case s.p.Form == FormName:
		return s.p.ShowAll(false, v)
	}
	if s.table == nil || s.table.lacks(v.Items) {
		l := s.p.layout(v, s.longest)
		s.table = &l
	} else {
		v.NoHeader = true
	}
	s.remember(v)
	return s.p.laidOut(v, s.table)
}

// remember notes the longest cells.
func (s *Sequence) remember(v View) {
	if s.longest == nil {
		s.longest = make([]string, len(v.Columns))
	}
	for _, it := range v.Items {
		for i, cell := range it.Cells {
			if utf8.RuneCountInString(cell) > utf8.RuneCountInString(s.longest[i]) {
				s.longest[i] = cell
			}
		}
	}
}

// Close ends the list, also one that had no part.
func (s *Sequence) Close() error {
	if s.list == nil {
		return nil
	}
	end := s.list.tail
	if !s.begun {
		end = s.list.empty
	}
	_, err := io.WriteString(s.p.Out, end)
	return err
}

// encode writes the items of a part between those of the parts before and behind.
func (s *Sequence) encode(v View) error {
	items := make([]any, len(v.Items))
	for i, it := range v.Items {
		items[i] = it.Value
	}
	text, err := s.p.encoded(list{resource.APIVersion, "List", items})
	if err != nil {
		return err
	}
	inner := strings.TrimSuffix(strings.TrimPrefix(text, s.list.head), s.list.tail)
	before := s.list.between
	if !s.begun {
		before = s.list.head
	}
	s.begun = true
	_, err = io.WriteString(s.p.Out, before+inner)
	return err
}

// frame is what a list in JSON or YAML has around its items.
type frame struct{ head, between, tail, empty string }

func (p *Printer) frame() (*frame, error) {
	empty, err := p.encoded(list{resource.APIVersion, "List", []any{}})
	if err != nil {
		return nil, err
	}
	before, behind, _ := strings.Cut(empty, "[]")
	if p.Form == FormYAML {
		return &frame{head: strings.TrimSuffix(before, " ") + "\n", empty: empty}, nil
	}
	return &frame{head: before + "[", between: ",", tail: "\n  ]" + behind, empty: empty}, nil
}

// encoded is a value as JSON or YAML, with a line feed behind it.
func (p *Printer) encoded(value any) (string, error) {
	raw, err := json.MarshalIndent(value, "", "  ")
	if err == nil && p.Form == FormYAML {
		if raw, err = manifest.FromJSON(raw); err == nil {
			raw = bytes.TrimSuffix(raw, []byte("\n"))
		}
	}
	if err != nil {
		return "", protocol.Errorf(protocol.CodeInternal, "print", "%w", err)
	}
	return fmt.Sprintf("%s\n", terminal.JSON(raw)), nil
}
