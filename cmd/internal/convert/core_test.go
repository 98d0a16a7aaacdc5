package convert

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rackboot/protocol/resource"
)

// Every code says what it means, once, and the guide has its row.
func TestCodesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/guide/convert.md")
	if err != nil {
		t.Fatal(err)
	}
	said := map[Code]bool{}
	for _, m := range Meanings() {
		if m.Means == "" || said[m.Code] {
			t.Errorf("%s: %+v", m.Code, m)
		}
		said[m.Code] = true
		if row := "| `" + string(m.Code) + "` | " + m.Means + " | " + m.Do + " |"; !strings.Contains(string(page), row) {
			t.Errorf("docs/guide/convert.md lacks the row\n%s", row)
		}
	}
	_, table, _ := strings.Cut(string(page), "\n## Codes\n")
	if n := strings.Count(table, "\n| `"); n != len(said) {
		t.Errorf("the page has %d codes, and there are %d", n, len(said))
	}
	file, err := parser.ParseFile(token.NewFileSet(), "code.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if v, is := n.(*ast.ValueSpec); is {
			if word, is := v.Values[0].(*ast.BasicLit); is {
				found++
				code, err := strconv.Unquote(word.Value)
				if err != nil || !said[Code(code)] || v.Names[0].Name != code {
					t.Errorf("%s = %s has no meaning, or another name", v.Names[0].Name, word.Value)
				}
			}
		}
		return true
	})
	if found < 40 {
		t.Errorf("%d codes found", found)
	}
}

func TestOutcome(t *testing.T) {
	for _, row := range []struct {
		name string
		r    Report
		want Outcome
	}{
		{"nothing", Report{}, Whole},
		{"taken and changed", Report{Findings: []Finding{{Fate: Taken}, {Fate: Changed, Code: ToLabel}}}, Whole},
		{"only observed", Report{Findings: []Finding{{Fate: NoEqual, Code: Observed}}}, Whole},
		{"no equal", Report{Findings: []Finding{{Fate: Taken}, {Fate: NoEqual, Code: RootDevice}}}, Lacking},
		{"a need", Report{Needs: []Need{{"bmc/b", "spec.tls", NeedsPin}}}, Lacking},
		{"refused", Report{Findings: []Finding{{Fate: NoEqual, Code: RootDevice}, {Fate: Refused, Code: NoName}}}, Rejected},
	} {
		if got := row.r.Outcome(); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
}

// A field that no reader marks is unknown, one that has nothing in it is empty, and a mark counts for what is below.
func TestWhatIsNotMarkedIsReported(t *testing.T) {
	c := New(Settings{})
	o := c.Object("f", "x", map[string]any{
		"a": map[string]any{"b": "1", "c": nil, "d.e": []any{"x", map[string]any{}}}, "whole": map[string]any{"deep": []any{"y"}}, "gone": "z",
	})
	o.Field("a", "b").Taken("server/n1 spec.x")
	o.Field("whole").NoEqual(NotManaged)
	o.Field("gone").Changed(ToLabel, "server/n1 metadata")
	o.Field("gone").NoEqual(RootDevice)
	o.Field("gone").Taken("server/n1 other")
	o.Field("not", "there").Refused(BadValue)
	o.Close()
	got := map[string]string{}
	for _, f := range c.Report.Findings {
		got[f.Field] = string(f.Fate) + " " + string(f.Code) + " " + strings.Join(f.To, ",")
	}
	want := map[string]string{
		"a.b": "taken  server/n1 spec.x", "a.c": "taken Empty ", `a["d.e"][0]`: "noEqual UnknownField ", `a["d.e"][1]`: "taken Empty ", "whole": "noEqual NotManaged ",
		"gone": "noEqual RootDevice server/n1 metadata,server/n1 other",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// What hides something is refused, and an error quotes nothing of the file.
func TestRead(t *testing.T) {
	for _, row := range []struct{ name, text, wrong string }{
		{"JSON values one after the other", `{"a":1} [2]`, ""},
		{"YAML documents", "a: 1\n---\n# none\n---\n- 2\n", ""},
		{"nothing", " \n", ""},
		{"a key twice, JSON", `{"secret":1,"secret":2}`, "a key is given twice"},
		{"a key twice, YAML", "a: 1\na: 2\n", "is given twice"},
		{"an anchor", "a: &x 1\nb: *x\n", "anchors and aliases"},
		{"a tag", "a: !!binary secret\n", "the tag"},
		{"cut off", `{"secret":`, "is no JSON"},
		{"no JSON", `{"secret"=1}`, "is no JSON"},
		{"a control character", "{\"a\\u001fb\":1}", "control character"},
		{"a control character, YAML", "\"a\\x1fb\": 1\n", "control character"},
		{"deep JSON", strings.Repeat("[", 100), "too deep"},
		{"deep YAML", "a: " + strings.Repeat("[", 100), "nested deeper"},
		{"deep entries", strings.Repeat("- ", 100_000) + "x", "nested deeper"},
		{"long YAML", "a: " + strings.Repeat("x", maxYAML), "is longer than"},
	} {
		_, err := Read(File{"f", []byte(row.text)})
		if (err == nil) != (row.wrong == "") || err != nil && !strings.Contains(err.Error(), row.wrong) {
			t.Errorf("%s: %v, want %q", row.name, err, row.wrong)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v quotes the file", row.name, err)
		}
	}
}

func TestFits(t *testing.T) {
	for in, want := range map[string]string{"n1": "n1", "Node 1.example": "node-1-example", "_x_": "x", "é": "", strings.Repeat("a", 62) + ".b": strings.Repeat("a", 62)} {
		if got := Name(in); got != want {
			t.Errorf("Name(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"192.0.2.1": "https://192.0.2.1", "192.0.2.1/24": "https://192.0.2.1", "2001:db8::1": "https://[2001:db8::1]", "bmc.example": "https://bmc.example",
		"https://bmc.example:8443/redfish/v1": "https://bmc.example:8443", "http://bmc.example": "http://bmc.example",
		"": "", "https://user:secret@bmc": "", "ipmi://192.0.2.1": "", "a b": "", "https://bmc/other": "", "https://bmc?x": "",
	} {
		if got, ok := HTTPS(in); got != want || ok != (want != "") {
			t.Errorf("HTTPS(%q) = %q, %v; want %q", in, got, ok, want)
		}
	}
	for in, want := range map[string]string{"52-54-00-AA-00-01": "52:54:00:aa:00:01", "01:00:5e:00:00:01": "", "52:54:00:aa:00:01:02:03": "", "x": ""} {
		if got, ok := MAC(in); got != want || ok != (want != "") {
			t.Errorf("MAC(%q) = %q", in, got)
		}
	}
}

// The name of a resource is its own, and what apply would refuse is said.
func TestFinish(t *testing.T) {
	c := New(Settings{Rack: "r1"})
	if !c.Machine(Machine{Name: "n1", BootMAC: "52:54:00:00:00:01", BMC: Controller{Address: "ipmi://192.0.2.1", Secret: "a"}}) {
		t.Error("n1 is not taken")
	}
	if c.Machine(Machine{Name: "n1", BootMAC: "52:54:00:00:00:02"}) || !c.Account("a", "u", "canary", nil) || c.Account("a", "u", "other", nil) {
		t.Error("a name is taken twice")
	}
	out, err := c.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"secret/a", "bmc/n1-bmc", "server/n1"}, out.Report.Written); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Need{{"bmc/n1-bmc", "spec.tls", NeedsPin}, {"bmc/n1-bmc", "spec.address", ApplyRefuses}}, out.Report.Needs); d != "" {
		t.Error(d)
	}
	if raw, err := json.Marshal(out.Report); err != nil || strings.Contains(string(raw), "canary") {
		t.Errorf("%s %v", raw, err)
	}
	parts, err := Parts(out.Objects)
	if err != nil || len(parts) != 1 || !strings.Contains(string(parts[0]), "password: Y2FuYXJ5\n") {
		t.Errorf("%d parts, %v", len(parts), err)
	}
}

// Files are no longer than apply takes.
func TestParts(t *testing.T) {
	c := New(Settings{Rack: "r1", CA: strings.Repeat("x\n", 50_000)})
	for i := range 30 {
		c.Machine(Machine{Name: "n" + strconv.Itoa(i), BootMAC: "52:54:00:00:00:01", BMC: Controller{Address: "https://192.0.2." + strconv.Itoa(i)}})
	}
	out, err := c.Finish()
	if err != nil {
		t.Fatal(err)
	}
	parts, err := Parts(out.Objects)
	if err != nil || len(parts) < 3 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	docs := 0
	for _, p := range parts {
		if len(p) > maxPart {
			t.Errorf("%d bytes", len(p))
		}
		docs += strings.Count(string(p), "apiVersion: "+resource.APIVersion)
	}
	if docs != 60 {
		t.Errorf("%d documents", docs)
	}
}
