package bootenv

import (
	"slices"
	"text/template/parse"
)

// Functions that templates do not name, and every template calls.
const (
	funcEnter  = "enter"
	funcLeave  = "leave"
	funcOutput = "output"
	funcWeigh  = "weigh"
)

// instrument changes a parsed template so that nothing in it runs uncounted. text/template
// itself cannot be ended in a loop that writes nothing, recurses until a stack of 1 GiB is
// full, and prints a map that is in itself until then.
//
//	in the source        | becomes
//	{{range X}}Y{{end}}  | each turn begins with an empty text, which the writer counts
//	a template's body    | begins with enter and ends with leave, which count its depth
//	{{X}}                | {{X | output}}, which looks at the size of X before it is printed
//	eq X Y, and the like | eq (X | weigh) (Y | weigh), which counts what is compared
func instrument(t *parse.Tree) {
	if t.Root == nil {
		return
	}
	turns(t, t.Root)
	t.Root.Nodes = slices.Concat([]parse.Node{action(t, funcEnter)}, t.Root.Nodes, []parse.Node{action(t, funcLeave)})
}

func turns(t *parse.Tree, n parse.Node) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil {
			return
		}
		for _, c := range n.Nodes {
			turns(t, c)
		}
	case *parse.PipeNode:
		if n == nil {
			return
		}
		for _, c := range n.Cmds {
			for _, a := range c.Args {
				turns(t, a)
			}
			weigh(t, c)
		}
	case *parse.ChainNode:
		turns(t, n.Node)
	case *parse.TemplateNode:
		turns(t, n.Pipe)
	case *parse.ActionNode:
		turns(t, n.Pipe)
		if len(n.Pipe.Decl) == 0 {
			n.Pipe.Cmds = append(n.Pipe.Cmds, command(t, funcOutput, n.Pos))
		}
	case *parse.IfNode:
		turns(t, n.Pipe)
		turns(t, n.List)
		turns(t, n.ElseList)
	case *parse.WithNode:
		turns(t, n.Pipe)
		turns(t, n.List)
		turns(t, n.ElseList)
	case *parse.RangeNode:
		turns(t, n.Pipe)
		turns(t, n.List)
		turns(t, n.ElseList)
		n.List.Nodes = slices.Insert(n.List.Nodes, 0, parse.Node(&parse.TextNode{NodeType: parse.NodeText, Pos: n.Pos}))
	}
}

// weigh counts the arguments of a comparison, but for those in the source.
func weigh(t *parse.Tree, c *parse.CommandNode) {
	if name, ok := c.Args[0].(*parse.IdentifierNode); !ok || !slices.Contains(comparisons, name.Ident) {
		return
	}
	for i, a := range c.Args[1:] {
		switch a.(type) {
		case *parse.NilNode, *parse.BoolNode, *parse.NumberNode, *parse.StringNode:
			continue
		}
		of := &parse.CommandNode{NodeType: parse.NodeCommand, Pos: a.Position(), Args: []parse.Node{a}}
		c.Args[i+1] = &parse.PipeNode{NodeType: parse.NodePipe, Pos: a.Position(), Cmds: []*parse.CommandNode{of, command(t, funcWeigh, a.Position())}}
	}
}

func command(t *parse.Tree, name string, at parse.Pos) *parse.CommandNode {
	return &parse.CommandNode{
		NodeType: parse.NodeCommand, Pos: at,
		Args: []parse.Node{parse.NewIdentifier(name).SetPos(at).SetTree(t)},
	}
}

func action(t *parse.Tree, name string) *parse.ActionNode {
	return &parse.ActionNode{
		NodeType: parse.NodeAction,
		Pipe:     &parse.PipeNode{NodeType: parse.NodePipe, Cmds: []*parse.CommandNode{command(t, name, 0)}},
	}
}
