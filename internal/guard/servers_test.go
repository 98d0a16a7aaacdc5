package guard

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestServersHaveLimits: nothing that is shipped serves HTTP without time-outs and
// limits, and each has a row of the table that integration/listeners plays clients at.
func TestServersHaveLimits(t *testing.T) {
	var found []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (path == "integration" || path == "bmc/sim" || path != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && isHTTP(f.X) && strings.HasPrefix(f.Sel.Name, "ListenAndServe") {
					t.Errorf("%s: %s has no time-outs", path, f.Sel.Name)
				}
			case *ast.CompositeLit:
				if s, ok := n.Type.(*ast.SelectorExpr); ok && isHTTP(s.X) && s.Sel.Name == "Server" {
					found = append(found, filepath.ToSlash(filepath.Dir(path)))
					for _, want := range []string{"ReadHeaderTimeout", "IdleTimeout", "MaxHeaderBytes"} {
						if !slices.ContainsFunc(n.Elts, func(e ast.Expr) bool {
							kv, ok := e.(*ast.KeyValueExpr)
							if !ok {
								return false
							}
							key, ok := kv.Key.(*ast.Ident)
							return ok && key.Name == want
						}) {
							t.Errorf("%s: a server without %s", path, want)
						}
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	// That of rackctl listens on loopback while a person logs in, and is no listener of a daemon.
	if want := []string{"agent/local", "cmd/internal/cli/person", "hub/api/gate", "hub/registry", "internal/metrics", "netboot/httpboot"}; !slices.Equal(found, want) {
		t.Errorf("servers are in %v; those of the table in integration/listeners, and rackctl's, are in %v", found, want)
	}
}

func isHTTP(e ast.Expr) bool {
	i, ok := e.(*ast.Ident)
	return ok && i.Name == "http"
}
