package guard

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pureImports are what a pure package may import: values in, values out.
func pureImports() []string {
	return []string{
		"bytes", "cmp", "crypto/sha256", "encoding/hex", "encoding/json", "errors", "fmt", "iter", "maps", "math",
		"net/netip", "slices", "sort", "strconv", "strings", "time", "unicode",
		module + "/protocol", module + "/protocol/resource", module + "/protocol/message", module + "/protocol/decide",
	}
}

// impure are the functions of those packages that read the world or write to it.
func impure() map[string][]string {
	return map[string][]string{
		"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Local", "LoadLocation"},
		"fmt":  {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
	}
}

// The decisions of the rack and of the hub are functions of their arguments, so
// that a table can hold every case of them and a crash cannot split them.
func TestPurePackages(t *testing.T) {
	for _, pkg := range []string{"protocol/decide", "protocol/settings", "hub/accounts", "hub/plan", "hub/plan/bootimages", "hub/plan/hubs", "hub/plan/rollout", "hub/access"} {
		for _, s := range sources(t, func(p string) bool { return path.Dir(p) == pkg && !isTest(p) }) {
			report(t, purityOf(s))
		}
	}
}

// purityOf returns what in a file is not pure.
func purityOf(s source) []string {
	var problems []string
	bad := func(n ast.Node, format string, args ...any) {
		problems = append(problems, fmt.Sprintf("%s: %s in a pure package", s.at(n), fmt.Sprintf(format, args...)))
	}
	names := map[string]string{} // by the name in this file
	for _, i := range s.file.Imports {
		p, _ := strconv.Unquote(i.Path.Value) // the parser has read it
		name := path.Base(p)
		if i.Name != nil {
			name = i.Name.Name
		}
		names[name] = p
		if !slices.Contains(pureImports(), p) || name == "." {
			bad(i, "import of %s", i.Path.Value)
		}
	}
	for _, d := range s.file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR && !checksInterface(g) && !declaresTables(g) {
			bad(g, "package variable")
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			bad(n, "go statement")
		case *ast.ChanType:
			bad(n, "channel")
		case *ast.SelectStmt:
			bad(n, "select")
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && slices.Contains(impure()[names[x.Name]], n.Sel.Name) {
				bad(n, "%s.%s", names[x.Name], n.Sel.Name)
			}
		}
		return true
	})
	return problems
}

// checksInterface reports whether every name of a var declaration is _.
func checksInterface(g *ast.GenDecl) bool {
	for _, spec := range g.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok || slices.ContainsFunc(v.Names, func(i *ast.Ident) bool { return i.Name != "_" }) {
			return false
		}
	}
	return true
}

// declaresTables reports whether a var declaration is of tables, which TestTables holds constant.
func declaresTables(g *ast.GenDecl) bool {
	return !slices.ContainsFunc(g.Specs, func(spec ast.Spec) bool {
		v, ok := spec.(*ast.ValueSpec)
		if !ok || len(v.Names) != len(v.Values) {
			return true
		}
		for i, name := range v.Names {
			if !isTable(name, v.Values[i]) {
				return true
			}
		}
		return false
	})
}

func TestPurityCanFail(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"values", `import "time"; func f(now time.Time) time.Time { return now.Add(time.Second) }`, ""},
		{"an address is a value", `import "net/netip"; func f(a netip.Addr) bool { return a.Is4() }`, ""},
		{"interface check", `var _ interface{} = 1`, ""},
		{"clock", `import "time"; func f() time.Time { return time.Now() }`, "time.Now"},
		{"clock as a value", `import "time"; func f() any { return time.Since }`, "time.Since"},
		{"clock by another name", `import t "time"; func f(){ t.Sleep(1) }`, "time.Sleep"},
		{"zone of the host", `import "time"; func f() any { return time.Local }`, "time.Local"},
		{"dot import", `import . "time"; func f() any { return Now() }`, "import of"},
		{"random", `import "math/rand/v2"; func f() int { return rand.Int() }`, "math/rand/v2"},
		{"random key", `import _ "crypto/rand"`, "crypto/rand"},
		{"files", `import _ "os"`, `"os"`},
		{"sockets", `import _ "net"`, `"net"`},
		{"context", `import _ "context"`, `"context"`},
		{"log", `import _ "log/slog"`, `"log/slog"`},
		{"another layer", `import _ "rackboot/state"`, `"rackboot/state"`},
		{"output", `import "fmt"; func f() { fmt.Println() }`, "fmt.Println"},
		{"goroutine", `func f() { go f() }`, "go statement"},
		{"channel", `func f(c chan int) {}`, "channel"},
		{"select", `func f() { select {} }`, "select"},
		{"a table", `var names = []string{"a"}`, ""},
		{"a table to fill", `var seen = map[string]bool{}`, "package variable"},
		{"a table beside memory", "var (\nnames = []string{\"a\"}\nseen int\n)", "package variable"},
		{"memory", `var seen int`, "package variable"},
		{"memory in a group", "var (\n_ = 1\nseen int\n)", "package variable"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			expect(t, purityOf(parse(t, "x.go", []byte("package x; "+c.body))), c.want)
		})
	}
}
