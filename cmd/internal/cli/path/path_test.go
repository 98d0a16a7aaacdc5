package path

import (
	"strings"
	"testing"

	"rackboot/protocol/resource"
	"rackboot/protocol/selector"
)

func value(t *testing.T) any {
	t.Helper()
	s := &resource.Server{}
	s.Metadata.Name, s.Metadata.Generation = "n1", 1<<40
	s.Status.Conditions = []resource.ConditionState{{Code: resource.CondHeld, Message: "by a"}, {Code: resource.CondDark, Message: "since b"}}
	v, err := selector.Plain(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestPaths(t *testing.T) {
	for expression, want := range map[string]string{
		".metadata.name":             "n1",
		"metadata.name":              "n1",
		"{.metadata.name}":           "n1",
		".metadata.generation":       "1099511627776",
		".status.phase":              None,
		".status.conditions[*].code": "Held,Dark",
		`.status.conditions[?(@.code=="Dark")].message`: "since b",
		".spec.bmcRef": `{"name":""}`,
	} {
		p, err := Parse(expression)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		if got, err := p.Text(value(t)); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", expression, got, err, want)
		}
	}
	for _, wrong := range []string{"", "{", "{.a", "{.a[}", ".a[?(@"} {
		if _, err := Parse(wrong); err == nil {
			t.Errorf("%q is a path", wrong)
		}
	}
}

func TestTemplates(t *testing.T) {
	p, err := Template(`{.metadata.name}{"\t"}{range .status.conditions[*]}{.code} {end}`)
	var b strings.Builder
	if err == nil {
		err = p.Execute(&b, value(t))
	}
	if err != nil || b.String() != "n1\tHeld Dark " {
		t.Errorf("%q, %v", b.String(), err)
	}
}

// Whatever a template is, it is read or refused, and what was read writes something or says why not.
func FuzzTemplate(f *testing.F) {
	for _, s := range []string{"{range .a[*]}{.b}{[*]}", "{.a}", "{range .a[*]}{.b}{end}", `{.a[?(@.b=="c")].d}`, "{..a}", "{.a[-1:]}", "{end}", "{.a[0:0:0]}", "{@}", "{.a['b']}"} {
		f.Add(s)
	}
	v := value(&testing.T{})
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Template(text)
		if err != nil {
			return
		}
		var b strings.Builder
		_ = p.Execute(&b, v) // an error is an answer; a panic is none
	})
}
