package bootenv

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	"rackboot/protocol/resource"
)

// unit is one parsed text: a Template resource, or a text in an environment.
type unit struct {
	name  string // a Template's, or the path in the environment
	text  string
	trees map[string]*parse.Tree // its own, and those that it defines
	calls []string               // templates that it names, without repeats
	funcs []string               // functions that it names, without repeats
	uses  []use
	lib   *library

	always map[string][]string // templates that each tree executes whenever it is executed
	tree   string              // the one that is walked
	inside int                 // how many if, with and range it is in
	bound  int                 // how many with and range, in which the dot is another one
}

// use is a chain of fields of the dot or of $, such as Machine.Name, with a first argument
// that is a text.
type use struct {
	chain string
	arg   string
	at    parse.Pos
	// data says that the chain begins at what the text is executed with: not in a with or
	// range, where the dot is another one, and in no template that is defined inside.
	data bool
}

// errAt is an error at a place of a text.
type errAt struct {
	line, column int
	message      string
}

// Error implements error.
func (e *errAt) Error() string { return e.message }

// place is line and column, from 1, of a position.
func place(text string, at parse.Pos) (line, column int) {
	before := text[:min(int(at), len(text))]
	return 1 + strings.Count(before, "\n"), len(before) - strings.LastIndex(before, "\n")
}

// newUnit parses a text. Functions are looked up here, so that one that is left out is
// named with its reason.
func newUnit(lib *library, name, text string) (*unit, error) {
	if len(text) > resource.MaxTemplate {
		return nil, &errAt{message: "has more than " + strconv.Itoa(resource.MaxTemplate>>10) + " KiB"}
	}
	u := &unit{name: name, text: text, trees: map[string]*parse.Tree{}, lib: lib, always: map[string][]string{}}
	t := parse.New(name)
	t.Mode = parse.SkipFuncCheck
	if _, err := t.Parse(text, "", "", u.trees); err != nil {
		return nil, parseError(text, err)
	}
	for _, n := range sortedKeys(u.trees) {
		u.tree = n
		if err := u.walk(u.trees[n].Root); err != nil {
			return nil, err
		}
		instrument(u.trees[n])
	}
	slices.Sort(u.calls)
	u.calls = slices.Compact(u.calls)
	slices.Sort(u.funcs)
	u.funcs = slices.Compact(u.funcs)
	return u, nil
}

// parserSays is the form of the parser's errors: the line, and what is wrong.
var parserSays = regexp.MustCompile(`(?s)^template: .*?:(\d+): (.*)$`)

// parseError reads the parser's error, which has a line. The column is that of the line's only
// action, and unknown where there are several.
func parseError(text string, err error) error {
	message := err.Error()
	m := parserSays.FindStringSubmatch(message)
	if m == nil {
		return &errAt{message: message}
	}
	e := &errAt{message: m[2]}
	e.line, _ = strconv.Atoi(m[1]) // digits
	if lines := strings.Split(text, "\n"); e.line <= len(lines) && strings.Count(lines[e.line-1], "{{") == 1 {
		e.column = 1 + strings.Index(lines[e.line-1], "{{")
	}
	return e
}

// walk collects what the text uses, and refuses what is not there.
func (u *unit) walk(n parse.Node) error {
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil {
			return nil
		}
		return u.walkAll(n.Nodes)
	case *parse.ActionNode:
		return u.walk(n.Pipe)
	case *parse.IfNode:
		return u.branch(&n.BranchNode, false)
	case *parse.WithNode:
		return u.branch(&n.BranchNode, true)
	case *parse.RangeNode:
		return u.branch(&n.BranchNode, true)
	case *parse.TemplateNode:
		u.calls = append(u.calls, n.Name)
		u.executes(n.Name)
		return u.walk(n.Pipe)
	case *parse.PipeNode:
		if n == nil {
			return nil
		}
		for _, c := range n.Cmds {
			if err := u.walk(c); err != nil {
				return err
			}
		}
	case *parse.CommandNode:
		u.use(n)
		return u.walkAll(n.Args)
	case *parse.ChainNode:
		return u.walk(n.Node)
	case *parse.IdentifierNode:
		if why := u.lib.problem(n.Ident); why != "" {
			line, column := place(u.text, n.Pos)
			return &errAt{line, column, why}
		}
		u.funcs = append(u.funcs, n.Ident)
	}
	return nil
}

// branch walks an if, or a with or range, in whose list the dot is another one.
func (u *unit) branch(n *parse.BranchNode, binds bool) error {
	err := u.walk(n.Pipe)
	u.inside++
	if binds {
		u.bound++
	}
	err = errors.Join(err, u.walk(n.List))
	if binds {
		u.bound--
	}
	err = errors.Join(err, u.walk(n.ElseList))
	u.inside--
	return err
}

// executes notes a template that is executed whenever this one is.
func (u *unit) executes(name string) {
	if u.inside == 0 {
		u.always[u.tree] = append(u.always[u.tree], name)
	}
}

func (u *unit) walkAll(nodes []parse.Node) error {
	for _, n := range nodes {
		if err := u.walk(n); err != nil {
			return err
		}
	}
	return nil
}

// use notes a command that begins with a field.
func (u *unit) use(c *parse.CommandNode) {
	for i, a := range c.Args {
		var chain []string
		data := u.tree == u.name
		switch a := a.(type) {
		case *parse.FieldNode:
			chain, data = a.Ident, data && u.bound == 0
		case *parse.VariableNode:
			if a.Ident[0] == "$" {
				chain = a.Ident[1:]
			}
		}
		if len(chain) == 0 {
			continue
		}
		seen := use{chain: strings.Join(chain, "."), at: a.Position(), data: data}
		if i == 0 && len(c.Args) > 1 {
			if s, ok := c.Args[1].(*parse.StringNode); ok {
				seen.arg = s.Text
				if seen.chain == "CallTemplate" {
					u.executes(s.Text)
				}
			}
		}
		u.uses = append(u.uses, seen)
	}
}
