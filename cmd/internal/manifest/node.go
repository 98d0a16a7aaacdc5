package manifest

import (
	"github.com/goccy/go-yaml/ast"
)

// lineOf is the line of a node's first token, from 1.
func lineOf(n ast.Node) int {
	// A mapping's own token is the colon of its first entry.
	if entries, ok := mapping(n); ok && len(entries) > 0 {
		return lineOf(entries[0].Key)
	}
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 1
	}
	return n.GetToken().Position.Line
}

func mapping(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

func keyText(k ast.MapKeyNode) string {
	if s, ok := k.(*ast.StringNode); ok {
		return s.Value
	}
	if t := k.GetToken(); t != nil {
		return t.Value
	}
	return ""
}

// text is the value of a node that is text.
func text(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	}
	return "", false
}

// scalar is the text of any scalar, as it was written.
func scalar(n ast.Node) (string, bool) {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	}
	return text(n)
}

// describe says what a node is, for people.
func describe(n ast.Node) string {
	switch n := n.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		return "text"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "the number " + n.GetToken().Value
	case *ast.BoolNode:
		return "the word " + n.GetToken().Value
	case *ast.NullNode:
		return "null"
	case *ast.SequenceNode:
		return "a list"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	}
	return "something else"
}

func quoteIt(n ast.Node) string {
	if _, ok := scalar(n); ok {
		return "; put it in quotes"
	}
	return ""
}
