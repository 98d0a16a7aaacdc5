package guard

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"path"
	"regexp"
	"strings"
	"testing"
)

// The times and limits in docs/PROTOCOL.md are those of the code that they name.
func TestProtocolTiming(t *testing.T) {
	text := string(files(t, func(p string) bool { return p == "docs/PROTOCOL.md" })["docs/PROTOCOL.md"])
	rows := timingRows(text)
	if len(rows) < 20 {
		t.Fatalf("%d rows name a constant", len(rows))
	}
	all := constants(sources(t, func(p string) bool { return !isTest(p) }))
	report(t, timingProblems(rows, all))
}

// A timing is a row of the page: what it says and which constant it names.
type timing struct{ value, name string }

// timingRows are the rows of the table below "## Timing" that name a constant.
func timingRows(text string) (rows []timing) {
	_, text, _ = strings.Cut(text, "\n## Timing\n")
	text, _, _ = strings.Cut(text, "\n## ")
	for line := range strings.SplitSeq(text, "\n") {
		if cells := strings.Split(strings.Trim(line, "| "), " | "); len(cells) == 3 && strings.HasPrefix(cells[2], "`") {
			rows = append(rows, timing{cells[1], strings.Trim(cells[2], "`")})
		}
	}
	return rows
}

func timingProblems(rows []timing, all map[string]constant.Value) []string {
	var problems []string
	for _, r := range rows {
		want, ok := quantity(r.value)
		got, there := all[r.name]
		switch {
		case !ok:
			problems = append(problems, fmt.Sprintf("%s: %q is not a number with a unit", r.name, r.value))
		case !there:
			problems = append(problems, fmt.Sprintf("there is no constant %s", r.name))
		case !constant.Compare(got, token.EQL, want):
			problems = append(problems, fmt.Sprintf("%s is %s, the page says %s (%s)", r.name, got, r.value, want))
		}
	}
	return problems
}

// quantity reads "10 min" as nanoseconds, "2 KiB" as bytes, "10,000" as it is.
func quantity(s string) (constant.Value, bool) {
	m := regexp.MustCompile(`^([0-9]+(?:,[0-9]{3})*)( [a-zA-Z]+)?$`).FindStringSubmatch(s)
	if m == nil {
		return nil, false
	}
	unit, ok := units()[strings.TrimSpace(m[2])]
	n := constant.MakeFromLiteral(strings.ReplaceAll(m[1], ",", ""), token.INT, 0)
	return constant.BinaryOp(n, token.MUL, constant.MakeInt64(unit)), ok
}

func units() map[string]int64 {
	const second = 1_000_000_000
	return map[string]int64{
		"": 1, "ms": second / 1000, "s": second, "min": 60 * second, "h": 3600 * second, "d": 24 * 3600 * second,
		"KiB": 1 << 10, "MiB": 1 << 20,
	}
}

// constants are those of the tree whose value is a literal, a unit of time, or made
// of such: "message.SyncEvery".
func constants(all []source) map[string]constant.Value {
	found := map[string]constant.Value{}
	for _, s := range all {
		for _, d := range s.file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, spec := range g.Specs {
				v := spec.(*ast.ValueSpec)
				for i := range min(len(v.Names), len(v.Values)) {
					if value := number(v.Values[i]); value.Kind() == constant.Int {
						found[path.Dir(s.path)+"."+v.Names[i].Name] = value
					}
				}
			}
		}
	}
	return found
}

// number is the value of an expression; unknown if it is made of something else.
func number(e ast.Expr) constant.Value {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.INT {
			return constant.MakeFromLiteral(e.Value, e.Kind, 0)
		}
	case *ast.ParenExpr:
		return number(e.X)
	case *ast.SelectorExpr:
		short := map[string]string{"Millisecond": "ms", "Second": "s", "Minute": "min", "Hour": "h"}[e.Sel.Name]
		if x, ok := e.X.(*ast.Ident); ok && x.Name == "time" && short != "" {
			return constant.MakeInt64(units()[short])
		}
	case *ast.BinaryExpr:
		x, y := number(e.X), number(e.Y)
		if x.Kind() != constant.Int || y.Kind() != constant.Int {
			break
		}
		if e.Op == token.SHL {
			n, _ := constant.Uint64Val(y)
			return constant.Shift(x, e.Op, uint(n))
		}
		if e.Op == token.MUL || e.Op == token.ADD || e.Op == token.SUB {
			return constant.BinaryOp(x, e.Op, y)
		}
	}
	return constant.MakeUnknown()
}

func TestProtocolTimingCanFail(t *testing.T) {
	code := constants([]source{parse(t, "a/b/c.go", []byte("package b; import \"time\"; const (\nPause = 2 * time.Second\nlimit = 128 << 10 + 16\nmany, few = 10_000, 3\nname = \"x\"\n)"))})
	for _, c := range []struct{ row, want string }{
		{"| x | 2 s | `a/b.Pause` |", ""},
		{"| x | 2,000 ms | `a/b.Pause` |", ""},
		{"| x | 131,088 | `a/b.limit` |", ""},
		{"| x | 10,000 | `a/b.many` |", ""},
		{"| x | 3 | `a/b.few` |", ""},
		{"| x | 2 min | `a/b.Pause` |", "the page says 2 min"},
		{"| x | 2 | `a/b.Pause` |", "the page says 2"},
		{"| x | soon | `a/b.Pause` |", "not a number"},
		{"| x | 2 fortnights | `a/b.Pause` |", "not a number"},
		{"| x | 2 s | `a.Pause` |", "no constant a.Pause"},
		{"| x | 1 | `a/b.name` |", "no constant a/b.name"},
	} {
		rows := timingRows("\n## Timing\n" + c.row + "\n## Next\n| x | 1 | `y` |")
		if len(rows) != 1 {
			t.Fatalf("%s: %v", c.row, rows)
		}
		expect(t, timingProblems(rows, code), c.want)
	}
}
