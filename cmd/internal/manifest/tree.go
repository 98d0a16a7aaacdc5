package manifest

import (
	"fmt"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// Trees reads YAML documents of any form as mappings, lists and scalars, for readers of what other programs
// wrote. Documents with nothing but comments are left out. Keys that are given twice, anchors and tags are
// errors, and so is what is nested deeper than depth. Unlike those of [Parse] the errors quote no text: any document may be a secret.
func Trees(src Source, depth int) ([]any, error) {
	text := lines(src.Data)
	var out []any
	var errs Errors
	for _, c := range split(text) {
		d := document{file: src.Name, skip: c.skip, first: c.first, lines: map[string]int{}, text: text, secret: true}
		if tooDeep(lexer.Tokenize(c.text), depth) {
			return nil, append(errs, d.at("", fmt.Sprintf("is nested deeper than %d", depth)))
		}
		body, wrong := d.parse(c)
		errs = append(errs, wrong...)
		if body == nil {
			continue
		}
		w := walker{lines: d.lines, doc: &d}
		v, _ := w.anything(body, "")
		errs = append(errs, w.errs...)
		out = append(out, v)
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return out, nil
}

// tooDeep reports whether a document is nested deeper than that, before it is parsed: the parser recurses,
// and keeps the whole path of each node. Nesting by indentation alone is not counted here. It costs a line of its
// own length for each level, so that the bound of the file is one of the depth.
func tooDeep(tokens token.Tokens, depth int) bool {
	flow := 0
	var columns []int // of the entries and keys that the present one lies in
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType:
			for len(columns) > 0 && columns[len(columns)-1] >= t.Position.Column {
				columns = columns[:len(columns)-1]
			}
			columns = append(columns, t.Position.Column)
		default:
		}
		if max(flow, 0)+len(columns) > depth {
			return true
		}
	}
	return false
}
