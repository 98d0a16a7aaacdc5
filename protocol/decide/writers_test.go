package decide

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writers are the fields of the record and of the watch, and the topics that write them. A topic
// that writes a field which is not its own takes part in another's decision.
func writers() map[string][]string {
	return map[string][]string{
		"rec.Attempt":              {"attempts", "draft", "heard"},
		"rec.Booted":               {"draft"},
		"rec.Conditions":           {"conditions"},
		"rec.Ended":                {"requests"},
		"rec.Owners.Firmware":      {"firmwares"},
		"rec.Guard":                {"guards"},
		"rec.Holds.Manual":         {"proofs"},
		"rec.Holds.Receipts":       {"proofs"},
		"rec.Holds.Terms":          {"lifetimes", "proofs"},
		"rec.Holds.Violated":       {"proofs"},
		"rec.Identity":             {"identities"},
		"rec.LastPoweredOn":        {"draft"},
		"rec.Ordered":              {"attempts", "draft"},
		"rec.Owners.Fallback":      {"fallbacks"},
		"rec.Owners.Released":      {"attempts", "endings"},
		"rec.Owners.Used":          {"grants", "requests"},
		"rec.Pending":              {"draft", "pursuit"},
		"rec.PendingRebootSince":   {"pursuit"},
		"rec.Requests":             {"requests"},
		"rec.Residue LeftKept":     {"disarming"},
		"rec.Residue LeftMedium":   {"drives"},
		"rec.Residue LeftOverride": {"attempts", "disarming"},
		"rec.Residue LeftRearm":    {"rearming"},
		"rec.Residue LeftRunning":  {"attempts"},
		"rec.Residue LeftURL":      {"urls"},
		"rec.Server":               {"draft"},
		"rec.Shown.Clock":          {"sightings"},
		"rec.Shown.Epoch":          {"attempts", "sightings"},
		"rec.Shown.OnTook":         {"sightings"},
		"rec.Shown.LastReset":      {"sightings"},
		"rec.Shown.Power":          {"sightings"},
		"rec.Shown.PowerLog":       {"sightings"},
		"rec.Shown.Progress":       {"sightings"},
		"rec.Shown.Seen":           {"sightings"},
		"rec.Stop":                 {"stops"},
		"rec.Unexpected":           {"draft", "sightings"},
		"watch.Again":              {"proofs"},
		"watch.Asked":              {"sightings"},
		"watch.Backoff":            {"attempts", "heard"},
		"watch.Busy":               {"sightings"},
		"watch.Counted":            {"lifetimes"},
		"watch.Eject":              {"drives"},
		"watch.FirmwareNext":       {"firmwares"},
		"watch.Guard":              {"guards"},
		"watch.Heard":              {"heard"},
		"watch.Image":              {"heard"},
		"watch.Last":               {"attempts", "rearming", "sightings"},
		"watch.Reset":              {"sightings"},
		"watch.Line":               {"inrush"},
		"watch.NextTry":            {"attempts", "heard"},
		"watch.Occupied":           {"drives"},
		"watch.Off":                {"proofs"},
		"watch.OffSince":           {"proofs", "sightings"},
		"watch.On":                 {"attempts"},
		"watch.Pause":              {"attempts", "disarming", "sightings", "stops"},
		"watch.Proofs":             {"proofs", "sightings"},
		"watch.RearmNext":          {"rearming"},
		"watch.Refused":            {"draft"},
		"watch.SilentSince":        {"proofs"},
		"watch.Stopping":           {"stops"},
		"watch.URL":                {"urls"},
		"watch.Unread":             {"sightings"},
		"watch.Waiting":            {"pursuit", "stops"},
	}
}

// Each topic writes its own part of the draft.
func TestWriters(t *testing.T) {
	got := map[string][]string{}
	for _, f := range parsed(t) {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil && fn.Body != nil {
				topic, recv := receiver(fn)
				for _, field := range written(fn.Body, recv, topic == "draft") {
					if !slices.Contains(got[field], topic) {
						got[field] = append(got[field], topic)
					}
				}
			}
		}
	}
	if len(got) < 20 {
		t.Fatalf("%d fields are written", len(got))
	}
	want := writers()
	for _, field := range slices.Sorted(maps.Keys(got)) {
		slices.Sort(got[field])
		if !slices.Equal(got[field], want[field]) {
			t.Errorf("%s is written by %s, want %s", field, strings.Join(got[field], ", "), strings.Join(want[field], ", "))
		}
	}
	for field := range want {
		if got[field] == nil {
			t.Errorf("nothing writes %s", field)
		}
	}
}

func parsed(t *testing.T) (all []*ast.File) {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	return all
}

// receiver is the type of a method, and what the method calls it.
func receiver(fn *ast.FuncDecl) (topic, name string) {
	typ := fn.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if id, ok := typ.(*ast.Ident); ok && len(fn.Recv.List[0].Names) == 1 {
		return id.Name, fn.Recv.List[0].Names[0].Name
	}
	return "", ""
}

// written are the fields of a draft's record and watch that a method writes: by their names, such
// as rec.Stop, or by a pointer that it took of one.
func written(body *ast.BlockStmt, recv string, draft bool) (fields []string) {
	of := map[string]string{} // names of pointers, and the field that each is of
	field := func(e ast.Expr) string {
		var path []string
		kind := ""
		for {
			switch x := e.(type) {
			case *ast.SelectorExpr:
				path = append(path, x.Sel.Name)
				e = x.X
				continue
			case *ast.IndexExpr:
				e = x.X
				continue
			case *ast.StarExpr:
				e = x.X
				continue
			case *ast.CallExpr: // what was left of a kind, such as rec.Residue.Medium()
				if sel, ok := x.Fun.(*ast.SelectorExpr); ok && len(x.Args) == 0 && slices.Contains(pointers(), "Left"+sel.Sel.Name) {
					kind, e = " Left"+sel.Sel.Name, sel.X
					continue
				}
			case *ast.UnaryExpr:
				if x.Op == token.AND {
					e = x.X
					continue
				}
			case *ast.Ident:
				slices.Reverse(path)
				if of[x.Name] != "" {
					return of[x.Name]
				}
				if !draft && len(path) > 0 && path[0] == "d" {
					path = path[1:]
				} else if !draft {
					return ""
				}
				if x.Name == recv && len(path) > 1 && (path[0] == "rec" || path[0] == "watch") {
					if len(path) > 2 && slices.Contains(groups(), path[1]) {
						kind = "." + path[2]
					}
					return path[0] + "." + path[1] + kind
				}
			}
			return ""
		}
	}
	say := func(f string) {
		if f != "" && !slices.Contains(fields, f) {
			fields = append(fields, f)
		}
	}
	note := func(e ast.Expr) {
		if id, ok := e.(*ast.Ident); ok {
			if of[id.Name] != "" {
				delete(of, id.Name) // it names another thing from here on
			}
			return
		}
		say(field(e))
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				id, ok := l.(*ast.Ident)
				if ok && n.Tok == token.DEFINE && i < len(n.Rhs) && len(n.Lhs) == len(n.Rhs) {
					if f := field(n.Rhs[i]); f != "" {
						of[id.Name] = f
						continue
					}
				}
				note(l)
			}
		case *ast.IncDecStmt:
			note(n.X)
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "delete" {
				note(n.Args[0])
			}
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if ok && sel.Sel.Name == "DeleteFunc" {
				note(n.Args[0])
			}
			if ok && sel.Sel.Name == "use" && field(sel.X) == "rec.Owners" {
				say("rec.Owners.Used")
			}
			if ok && field(sel.X) == residue {
				for _, kind := range leftBy(sel.Sel.Name, n.Args) {
					say(residue + " " + kind)
				}
			}
		}
		return true
	})
	return fields
}

// groups are the fields of the record whose own fields have writers of their own.
func groups() []string { return []string{"Shown", "Owners", "Holds"} }

// residue is the field in which each kind has writers of its own.
const residue = "rec.Residue"

// pointers are the kinds that have a method which gives a pointer.
func pointers() []string { return []string{"LeftKept", "LeftRearm", "LeftMedium", "LeftURL"} }

// leftBy are the kinds that a call of a method of the residue writes.
func leftBy(method string, args []ast.Expr) (kinds []string) {
	switch method {
	case "disarm":
		kinds = append(kinds, "LeftOverride")
	case "put", "drop":
		for _, arg := range args {
			ast.Inspect(arg, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && strings.HasPrefix(id.Name, "Left") && id.Name != "Left" {
					kinds = append(kinds, id.Name)
				}
				return true
			})
		}
	}
	return kinds
}
