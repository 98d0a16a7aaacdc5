package manifest

import (
	"fmt"
	"math"

	"github.com/goccy/go-yaml/ast"
)

// anything is a value whose form no type says: that of a param, or a part of a schema. It
// is what YAML's core schema makes of it, in JSON's terms.
func (w *walker) anything(n ast.Node, path string) (any, bool) {
	switch n := n.(type) {
	case *ast.NullNode:
		return nil, true
	case *ast.BoolNode:
		return n.Value, true
	case *ast.IntegerNode:
		return n.Value, true
	case *ast.FloatNode:
		if math.IsInf(n.Value, 0) || math.IsNaN(n.Value) {
			return w.fail(path, "is no number that JSON has")
		}
		return n.Value, true
	case *ast.InfinityNode, *ast.NanNode:
		return w.fail(path, "is no number that JSON has")
	case *ast.AnchorNode, *ast.AliasNode:
		return w.fail(path, "anchors and aliases are not read; write the value out")
	case *ast.TagNode:
		return w.fail(path, "the tag %s is not read; leave it out", n.Start.Value)
	case *ast.SequenceNode:
		out := []any{}
		for i, v := range n.Values {
			at := fmt.Sprintf("%s[%d]", path, i)
			w.lines[at] = w.doc.lineOf(v)
			if got, ok := w.anything(v, at); ok {
				out = append(out, got)
			}
		}
		return out, true
	}
	if entries, ok := mapping(n); ok {
		out := map[string]any{}
		w.entries(entries, path, func(key, at string, v ast.Node) {
			if got, ok := w.anything(v, at); ok {
				out[key] = got
			}
		})
		return out, true
	}
	if s, ok := text(n); ok {
		return s, true
	}
	return w.fail(path, "is %s, which is not read here", describe(n))
}
