package guard

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// A package variable may be a table: a literal of constants, or an expression that was compiled
// once. It is unexported, and its package does nothing with it but read, so that it is as good as
// a constant: whoever asks for it gets a copy, or what stands in one row.
func TestTables(t *testing.T) {
	packages := map[string][]source{}
	for _, s := range sources(t, func(p string) bool { return !isTest(p) }) {
		packages[path.Dir(s.path)] = append(packages[path.Dir(s.path)], s)
	}
	found := 0
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		p := tablesOf(packages[dir])
		found += len(p.tables)
		for name, test := range deepTables()[dir] {
			if p.tables[name] == nil || !strings.Contains(string(files(t, func(f string) bool { return f == test.file })[test.file]), "func "+test.name+"(") {
				t.Errorf("%s: no table %s, or no test %s in %s that what it gives out is a copy", dir, name, test.name, test.file)
			}
			delete(p.deep, name)
		}
		report(t, p.problems())
	}
	if found == 0 {
		t.Error("no table to judge")
	}
}

// provenTable is where a test is.
type provenTable struct{ file, name string }

// deepTables are those whose rows have slices of their own, by package and name, with the test that
// nobody gets one of these.
func deepTables() map[string]map[string]provenTable {
	return map[string]map[string]provenTable{
		"protocol/resource": {"conditions": {"protocol/resource/condition_test.go", "TestConditionsStay"}},
	}
}

// isTable reports whether a variable has the form of a table.
func isTable(name *ast.Ident, value ast.Expr) bool {
	if name.IsExported() {
		return false
	}
	if c, ok := value.(*ast.CompositeLit); ok {
		switch c.Type.(type) {
		case *ast.ArrayType, *ast.MapType:
			return len(c.Elts) > 0
		}
		return false
	}
	return isCompiled(value)
}

// isCompiled reports whether an expression makes a value out of constants that nothing changes.
func isCompiled(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	name := callee(call)
	return slices.Contains([]string{"regexp.MustCompile", "strings.NewReplacer", "netip.MustParsePrefix", "netip.MustParseAddr"}, name) &&
		!slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return !isConstant(a) })
}

// callee is the name of the function that is called, as it is written.
func callee(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			return x.Name + "." + f.Sel.Name
		}
	}
	return ""
}

// isConstant reports whether an expression is of constants and operators only.
func isConstant(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit, *ast.Ident:
		return true
	case *ast.SelectorExpr:
		_, ok := e.X.(*ast.Ident)
		return ok
	case *ast.BinaryExpr:
		return isConstant(e.X) && isConstant(e.Y)
	case *ast.UnaryExpr:
		return e.Op != token.AND && isConstant(e.X)
	case *ast.ParenExpr:
		return isConstant(e.X)
	}
	return false
}

// tableReaders are functions that keep nothing of a slice or map and change nothing in it, or give
// out a copy.
func tableReaders() []string {
	return []string{
		"len", "slices.Contains", "slices.ContainsFunc", "slices.Index", "slices.IndexFunc", "slices.Equal", "slices.Clone", "slices.Concat", "slices.Values", "slices.All",
		"slices.Max", "slices.Min", "slices.BinarySearch", "slices.BinarySearchFunc", "maps.Keys", "maps.Values", "maps.All", "maps.Clone", "strings.Join",
	}
}

// packageTables are the tables of a package.
type packageTables struct {
	all    []source
	tables map[string]ast.Expr
	deep   map[string]bool // whose rows have slices, maps or pointers
	types  map[string]ast.Expr
	funcs  map[string]*ast.FuncDecl // methods with a dot before their name; nil if several have it
	seen   map[string]bool
	out    []string
}

func tablesOf(all []source) *packageTables {
	p := &packageTables{all: all, tables: map[string]ast.Expr{}, deep: map[string]bool{}, types: map[string]ast.Expr{}, funcs: map[string]*ast.FuncDecl{}, seen: map[string]bool{}}
	for _, s := range all {
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				name := d.Name.Name
				if d.Recv != nil {
					name = "." + name
				}
				if _, twice := p.funcs[name]; twice {
					d = nil
				}
				p.funcs[name] = d
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						p.types[spec.Name.Name] = spec.Type
					case *ast.ValueSpec:
						if d.Tok == token.VAR {
							p.declare(spec)
						}
					}
				}
			}
		}
	}
	for name, value := range p.tables {
		if c, ok := value.(*ast.CompositeLit); ok && p.isDeep(c, elementType(c.Type)) {
			p.deep[name] = true
		}
	}
	return p
}

func (p *packageTables) declare(v *ast.ValueSpec) {
	for i, name := range v.Names {
		if i < len(v.Values) && isTable(name, v.Values[i]) {
			p.tables[name.Name] = v.Values[i]
		}
	}
}

// elementType is the type of what a slice, an array or a map has.
func elementType(t ast.Expr) ast.Expr {
	switch t := t.(type) {
	case *ast.ArrayType:
		return t.Elt
	case *ast.MapType:
		return t.Value
	}
	return nil
}

// refers reports whether a value of the type leads to something that others may change.
func (p *packageTables) refers(t ast.Expr) bool {
	switch t := t.(type) {
	case *ast.ArrayType:
		return t.Len == nil || p.refers(t.Elt)
	case *ast.MapType, *ast.StarExpr, *ast.ChanType:
		return true
	case *ast.SelectorExpr:
		return slices.Contains([]string{"IP", "IPMask", "HardwareAddr", "RawMessage"}, t.Sel.Name)
	case *ast.Ident:
		switch u := p.types[t.Name].(type) {
		case *ast.ArrayType, *ast.MapType, *ast.StarExpr, *ast.ChanType:
			return p.refers(u)
		}
	}
	return false
}

// isDeep reports whether a row of the literal, of that type, has a part that others may change.
func (p *packageTables) isDeep(c *ast.CompositeLit, row ast.Expr) bool {
	if p.refers(row) {
		return true
	}
	for _, e := range c.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
		}
		switch e := e.(type) {
		case *ast.FuncLit:
		case *ast.CompositeLit:
			if e.Type != nil && p.refers(e.Type) || p.isDeep(e, elementType(e.Type)) {
				return true
			}
		case *ast.CallExpr:
			// A conversion to a basic type, or what is compiled.
			if !isCompiled(e) && !slices.Contains([]string{"string", "byte", "int", "int64", "uint8", "uint16", "uint32"}, callee(e)) {
				return true
			}
		default:
			if id, ok := e.(*ast.Ident); !isConstant(e) || ok && p.tables[id.Name] != nil {
				return true
			}
		}
	}
	return false
}

// problems are what a package does with its tables but read.
func (p *packageTables) problems() []string {
	for _, name := range slices.Sorted(maps.Keys(p.deep)) {
		p.out = append(p.out, fmt.Sprintf("%s: rows of the table %s have parts that can be changed, or calls; make it a function, or list it in deepTables with the test that nobody gets them", path.Dir(p.all[0].path), name))
	}
	for _, s := range p.all {
		for _, d := range s.file.Decls {
			p.judge(s, d, func(id *ast.Ident) bool { return p.tables[id.Name] != nil })
		}
	}
	return p.out
}

// judge looks at each use of some names below a node.
func (p *packageTables) judge(s source, root ast.Node, of func(*ast.Ident) bool) {
	var above []ast.Node
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil {
			above = above[:len(above)-1]
			return true
		}
		if id, ok := n.(*ast.Ident); ok && of(id) {
			if wrong := p.use(s, id, above); wrong != "" {
				p.out = append(p.out, fmt.Sprintf("%s: the table %s %s", s.at(id), id.Name, wrong))
			}
		}
		above = append(above, n)
		return true
	})
}

// use says what is wrong with a use; empty if it only reads.
func (p *packageTables) use(s source, id *ast.Ident, above []ast.Node) string {
	parent := above[len(above)-1]
	switch n := parent.(type) {
	case *ast.ValueSpec:
		if len(above) == 2 && slices.Contains(n.Names, id) {
			return "" // its declaration
		}
	case *ast.SelectorExpr:
		if n.Sel == id || isCompiled(p.tables[id.Name]) && n.Sel.Name != "Longest" {
			return ""
		}
	case *ast.KeyValueExpr:
		if n.Key == id {
			return "" // the name of a field
		}
	case *ast.Field:
		if slices.Contains(n.Names, id) && len(above) > 2 {
			if _, ok := above[len(above)-3].(*ast.StructType); ok {
				return ""
			}
		}
	case *ast.FuncDecl:
		if n.Name == id && n.Recv != nil {
			return ""
		}
	case *ast.RangeStmt:
		if n.X == id {
			return ""
		}
	case *ast.BinaryExpr:
		return ""
	case *ast.IndexExpr:
		if n.X == id {
			return changed(n, above[:len(above)-1])
		}
	case *ast.CallExpr:
		return p.call(s, n, id)
	}
	return "is changed, given away, or is another thing here"
}

// changed says whether an element is written to, or its address taken.
func changed(e ast.Expr, above []ast.Node) string {
	for _, n := range slices.Backward(above) {
		switch n := n.(type) {
		case *ast.SelectorExpr, *ast.ParenExpr:
			e = n.(ast.Expr)
			continue
		case *ast.IndexExpr:
			if n.X == e {
				e = n
				continue
			}
		case *ast.SliceExpr:
			return "has an element that is cut"
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				return "has an element whose address is taken"
			}
		case *ast.IncDecStmt:
			return "has an element that is changed"
		case *ast.AssignStmt:
			if slices.Contains(n.Lhs, e) {
				return "has an element that is changed"
			}
		}
		return ""
	}
	return ""
}

// call judges a table as an argument.
func (p *packageTables) call(s source, call *ast.CallExpr, id *ast.Ident) string {
	at := slices.IndexFunc(call.Args, func(a ast.Expr) bool { return a == id })
	name := callee(call)
	switch {
	case at < 0:
		return "is called"
	case slices.Contains(tableReaders(), name), name == "append" && at > 0 && call.Ellipsis.IsValid():
		return ""
	}
	f := p.funcs[name]
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok && !imported(s, sel.X) {
		name = "." + sel.Sel.Name
		f = p.funcs[name]
	}
	if f == nil {
		return "is given to " + name
	}
	key := fmt.Sprintf("%s %d", name, at)
	if p.seen[key] {
		return ""
	}
	p.seen[key] = true
	param := parameter(f, at)
	if param == nil || f.Body == nil {
		return "is given to " + name
	}
	for _, in := range p.all {
		if slices.Contains(in.file.Decls, ast.Decl(f)) {
			before := len(p.out)
			for _, statement := range f.Body.List {
				p.judgeIn(in, f, statement, param.Name)
			}
			if len(p.out) > before {
				return "is given to " + name
			}
		}
	}
	return ""
}

// imported reports whether an expression is the name of an imported package.
func imported(s source, e ast.Expr) bool {
	x, ok := e.(*ast.Ident)
	return ok && slices.ContainsFunc(s.file.Imports, func(i *ast.ImportSpec) bool {
		return i.Name != nil && i.Name.Name == x.Name || i.Name == nil && path.Base(strings.Trim(i.Path.Value, `"`)) == x.Name
	})
}

// judgeIn judges a parameter as if it were a table.
func (p *packageTables) judgeIn(s source, f *ast.FuncDecl, root ast.Node, name string) {
	above := []ast.Node{f, f.Body}
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil {
			above = above[:len(above)-1]
			return true
		}
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			if wrong := p.use(s, id, above); wrong != "" {
				p.out = append(p.out, fmt.Sprintf("%s: %s, which may be a table, %s", s.at(id), id.Name, wrong))
			}
		}
		above = append(above, n)
		return true
	})
}

// parameter is the name of a function's parameter at a place; the last takes all that follow.
func parameter(f *ast.FuncDecl, at int) *ast.Ident {
	var names []*ast.Ident
	variadic := false
	for _, field := range f.Type.Params.List {
		names = append(names, field.Names...)
		_, variadic = field.Type.(*ast.Ellipsis)
	}
	switch {
	case at < len(names):
		return names[at]
	case variadic && len(names) > 0:
		return names[len(names)-1]
	}
	return nil
}

func TestTablesCanFail(t *testing.T) {
	const table = "package x; var names = []string{\"a\", \"b\"}\n"
	for _, c := range []struct{ name, text, want string }{
		{"reads", table + `func f(n string) bool { for i, x := range names { if names[i] == x { return len(names) > 1 } }; return slices.Contains(names, n) }`, ""},
		{"a copy", table + `func Names() []string { return slices.Clone(names) }`, ""},
		{"appended", table + `func f() []string { return append([]string{"c"}, names...) }`, ""},
		{"a field of its name", table + `type T struct { names []string }; func f() T { t := T{names: nil}; t.names = nil; return t }`, ""},
		{"given to who reads", table + `func f() bool { return has(names, "a") }; func has(of []string, n string) bool { return slices.Contains(of, n) }`, ""},
		{"given to a method that reads", table + `type T int; func f(t T) int { return t.g(names) }; func (T) g(of []string) int { return len(of) }`, ""},
		{"given to one of two methods", table + `type T int; type U int; func f(t T) int { return t.g(names) }; func (T) g(of []string) int { return len(of) }; func (U) g(of []string) int { of[0] = ""; return 0 }`, "given to .g"},
		{"given to another package", `package x; import "x/t"; ` + table[len("package x;"):] + `type T int; func f() int { return t.g(names) }; func (T) g(of []string) int { return len(of) }`, "given to t.g"},
		{"given to who gives it to who reads", table + `func f() int { return g(names...) }; func g(of ...string) int { return h(of) }; func h(of []string) int { return len(of) }`, ""},
		{"matched", `package x; var re = regexp.MustCompile("x"); func f(s string) bool { return re.MatchString(s) }`, ""},
		{"functions", `package x; var rows = []row{{"a", func() int { return 1 }}}; type row struct { name string; make func() int }`, ""},
		{"arrays in rows", `package x; var rows = [][2]string{{"a", "b"}}; func f() string { return rows[0][1] }`, ""},
		{"given out", table + `func Names() []string { return names }`, "names is changed, given away"},
		{"kept", table + `func f() { n := names; _ = n }`, "names is changed, given away"},
		{"set", table + `func f() { names = nil }`, "names is changed, given away"},
		{"element set", table + `func f() { names[0] = "c" }`, "element that is changed"},
		{"field of an element set", `package x; var rows = []row{{"a", 1}}; func f() { rows[0].n++ }`, "element that is changed"},
		{"entry set", `package x; var m = map[string]int{"a": 1}; func f() { m["b"] = 2 }`, "element that is changed"},
		{"entry deleted", `package x; var m = map[string]int{"a": 1}; func f() { delete(m, "a") }`, "given to delete"},
		{"address", table + `func f() *string { return &names[0] }`, "address is taken"},
		{"sorted", `package x; import "slices"; ` + table[len("package x;"):] + `func f() { slices.Sort(names) }`, "given to slices.Sort"},
		{"appended to", table + `func f() []string { return append(names, "c") }`, "given to append"},
		{"cut", table + `func f() []string { return names[1:] }`, "names is changed, given away"},
		{"shadowed", table + `func f() { names := 1; _ = names == 1 }`, "another thing here"},
		{"a parameter of its name", table + `func f(names int) bool { return names == 1 }`, "another thing here"},
		{"a struct of it", table + `func f() T { return T{n: names} }`, "names is changed, given away"},
		{"rows with slices", `package x; var rows = []row{{"a", []string{"b"}}}`, "rows of the table rows"},
		{"slices of slices", `package x; var rows = [][]string{{"a"}}`, "rows of the table rows"},
		{"slices by another name", `package x; type list []string; var rows = map[string]list{"a": {"b"}}`, "rows of the table rows"},
		{"pointers", `package x; var rows = []*row{{1}}`, "rows of the table rows"},
		{"addresses", `package x; var rows = []any{&row{1}}`, "rows of the table rows"},
		{"calls", `package x; var rows = []string{now()}`, "rows of the table rows"},
		{"a table in a table", table + `var rows = []any{names}`, "rows of the table rows"},
		{"longest", `package x; var re = regexp.MustCompile("x"); func f() { re.Longest() }`, "re is changed"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			problems := tablesOf([]source{parse(t, "x.go", []byte(c.text))}).problems()
			if c.name == "a table in a table" {
				problems = problems[:min(1, len(problems))] // it is given away too
			}
			expect(t, problems, c.want)
		})
	}
	t.Run("given to who changes it", func(t *testing.T) {
		problems := tablesOf([]source{parse(t, "x.go", []byte(table+`func f() { g(names) }; func g(of []string) { of[0] = "c" }`))}).problems()
		if len(problems) != 2 {
			t.Errorf("%q", problems)
		}
	})
}
