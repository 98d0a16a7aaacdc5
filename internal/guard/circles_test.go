package guard

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

const (
	// circleMost is how many files of a package may refer to each other's declarations,
	// directly or round about: who changes one of them has to know them all.
	circleMost = 10
	// methodsMost is how many methods a type may have, of its own and of what it embeds; a
	// field that is a function counts as one.
	methodsMost = 40
	// fieldsMost is how many fields a type may have that is more than data.
	fieldsMost = 20
	// dataMethods is how many methods what is data has at most.
	dataMethods = 4
)

// TestCircles holds each package to the bounds: no type has everything as its methods, and not
// everything refers to everything. What is generated is for nobody to read. It prints the figures with -v.
func TestCircles(t *testing.T) {
	packages := map[string]map[string][]byte{}
	for p, text := range files(t, func(p string) bool { return isGo(p) && !isTest(p) && !isGenerated(p) }) {
		if packages[path.Dir(p)] == nil {
			packages[path.Dir(p)] = map[string][]byte{}
		}
		packages[path.Dir(p)][path.Base(p)] = text
	}
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		s := shapeOf(t, packages[dir])
		t.Logf("%s: %d files, circle of %d, %d methods of %s, %d fields of %s", dir, len(packages[dir]), len(s.circle), s.methods, s.largest, s.fields, s.widest)
		report(t, s.problems(dir))
	}
}

// shape is how much of a package hangs together.
type shape struct {
	circle  []string // files; none refer to each other in a circle of one
	largest string   // type with the most methods
	methods int
	widest  string // type with the most fields, of those that are more than data
	fields  int
}

func (s shape) problems(dir string) (out []string) {
	if len(s.circle) > circleMost {
		out = append(out, fmt.Sprintf("%s: %d files refer to each other in a circle: %s", dir, len(s.circle), strings.Join(s.circle, ", ")))
	}
	if s.methods > methodsMost {
		out = append(out, fmt.Sprintf("%s: %s has %d methods", dir, s.largest, s.methods))
	}
	if s.fields > fieldsMost {
		out = append(out, fmt.Sprintf("%s: %s has %d fields", dir, s.widest, s.fields))
	}
	return out
}

// nothing imports nothing: what a package declares itself is known all the same.
type nothing struct{}

// Import implements types.Importer.
func (nothing) Import(string) (*types.Package, error) { return nil, fmt.Errorf("not imported") }

// shapeOf looks at the files of one package.
func shapeOf(t *testing.T, texts map[string][]byte) (s shape) {
	t.Helper()
	fset := token.NewFileSet()
	var all []*ast.File
	methods, structs := map[string]int{}, map[string]*ast.StructType{}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		f, err := parser.ParseFile(fset, name, texts[name], 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil {
					methods[receiver(n)]++
				}
			case *ast.TypeSpec:
				if of, ok := n.Type.(*ast.StructType); ok {
					structs[n.Name.Name] = of
				}
			}
			return true
		})
	}
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		if n := methods[name] + lent(structs, methods, name); n > s.methods {
			s.largest, s.methods = name, n
		}
		if of := structs[name]; of != nil && methods[name] > dataMethods && of.Fields.NumFields() > s.fields {
			s.widest, s.fields = name, of.Fields.NumFields()
		}
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	cfg := types.Config{Importer: nothing{}, Error: func(error) {}} // of what is not imported there are many
	pkg, _ := cfg.Check("x", fset, all, &info)
	refers := map[string]map[string]bool{}
	for id, o := range info.Uses {
		from, to := fset.Position(id.Pos()).Filename, fset.Position(o.Pos()).Filename
		if o.Pkg() != pkg || from == to || !declared(o) {
			continue
		}
		if refers[from] == nil {
			refers[from] = map[string]bool{}
		}
		refers[from][to] = true
	}
	reach := map[string]map[string]bool{}
	for name := range texts {
		reach[name] = reached(refers, name)
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		var circle []string
		for _, other := range slices.Sorted(maps.Keys(reach[name])) {
			if reach[other][name] {
				circle = append(circle, other)
			}
		}
		if len(circle) > len(s.circle) {
			s.circle = circle
		}
	}
	return s
}

// receiver is the type that a method is of.
func receiver(fn *ast.FuncDecl) string {
	of := fn.Recv.List[0].Type
	if p, ok := of.(*ast.StarExpr); ok {
		of = p.X
	}
	if i, ok := of.(*ast.IndexExpr); ok {
		of = i.X
	}
	return types.ExprString(of)
}

// lent are the methods that a type has of others: of those of its package that it embeds, and its
// fields that are functions.
func lent(structs map[string]*ast.StructType, methods map[string]int, name string) (n int) {
	of := structs[name]
	if of == nil {
		return 0
	}
	for _, f := range of.Fields.List {
		if _, isFunc := f.Type.(*ast.FuncType); isFunc {
			n += len(f.Names)
		}
		if len(f.Names) > 0 {
			continue
		}
		if embedded := strings.TrimPrefix(types.ExprString(f.Type), "*"); embedded != name {
			n += methods[embedded] + lent(structs, methods, embedded)
		}
	}
	return n
}

// declared reports whether an object is a declaration of its package, or a method.
func declared(o types.Object) bool {
	f, isFunc := o.(*types.Func)
	return o.Parent() == o.Pkg().Scope() || isFunc && f.Signature().Recv() != nil
}

// reached are the files that a file refers to, directly or round about.
func reached(refers map[string]map[string]bool, from string) map[string]bool {
	seen, next := map[string]bool{}, []string{from}
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		for to := range refers[name] {
			if !seen[to] {
				seen[to] = true
				next = append(next, to)
			}
		}
	}
	return seen
}

func TestCirclesCanFail(t *testing.T) {
	ring := func(n int, back bool) map[string][]byte {
		texts := map[string][]byte{}
		for i := range n {
			text := fmt.Sprintf("package x\n\nimport \"y.org/z\"\n\ntype t%d struct{ z.T }\n", i)
			if i+1 < n || back {
				text += fmt.Sprintf("\nfunc f%d(t t%d) { t.m(); z.F() }\n", i, (i+1)%n)
			}
			texts[fmt.Sprintf("f%02d.go", i)] = []byte(text + fmt.Sprintf("\nfunc (t%d) m() {}\n", i))
		}
		return texts
	}
	object := func(n int) map[string][]byte {
		text := "package x\n\ntype t struct{}\n"
		for i := range n {
			text += fmt.Sprintf("\nfunc (t) m%d() {}\n", i)
		}
		return map[string][]byte{"t.go": []byte(text)}
	}
	wide := func(fields, methods int) map[string][]byte {
		text := "package x\n\ntype t struct {\n" + strings.Repeat("\t_ int\n", fields) + "}\n"
		for i := range methods {
			text += fmt.Sprintf("\nfunc (t) m%d() {}\n", i)
		}
		return map[string][]byte{"t.go": []byte(text)}
	}
	embeds := object(methodsMost)
	embeds["u.go"] = []byte("package x\n\ntype u struct {\n\t*t\n\tf func()\n}\n\nfunc (u) m() {}\n")
	for _, c := range []struct {
		name  string
		texts map[string][]byte
		want  string
	}{
		{"a long line", ring(3*circleMost, false), ""},
		{"a circle", ring(circleMost, true), ""},
		{"too many in a circle", ring(circleMost+1, true), "11 files refer to each other"},
		{"methods", object(methodsMost), ""},
		{"too many methods", object(methodsMost + 1), "t has 41 methods"},
		{"methods that are lent", embeds, "u has 42 methods"},
		{"fields", wide(fieldsMost, dataMethods+1), ""},
		{"too many fields", wide(fieldsMost+1, dataMethods+1), "t has 21 fields"},
		{"fields of data", wide(2*fieldsMost, dataMethods), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, shapeOf(t, c.texts).problems("x"), c.want)
		})
	}
}
