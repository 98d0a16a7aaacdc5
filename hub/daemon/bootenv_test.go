package daemon

import (
	"strings"
	"testing"

	"rackboot/protocol/resource"
)

// What is wrong with a description is said where it is, before anything uses it.
func TestEnvRules(t *testing.T) {
	env := func(change func(*resource.BootEnvSpec)) *resource.BootEnv {
		e := &resource.BootEnv{Spec: resource.BootEnvSpec{OS: resource.EnvOS{Name: "debian-12", SupportedArchitectures: map[string]resource.EnvArch{"amd64": {Kernel: "linux"}}}}}
		e.Metadata.Name = "debian-install"
		change(&e.Spec)
		return e
	}
	texts := func(name string) (string, bool) {
		text, ok := map[string]string{"good": `{{.Machine.Name}} {{.CallTemplate "inner" .}}`, "inner": "x", "bad": "\n{{.Machine.Name"}[name]
		return text, ok
	}
	named := func(id string) func(*resource.BootEnvSpec) {
		return func(s *resource.BootEnvSpec) {
			s.Templates = []resource.EnvTemplate{{Name: "a", Path: "a", ID: id}}
		}
	}
	for name, row := range map[string]struct {
		change func(*resource.BootEnvSpec)
		want   string
	}{
		"fine":   {named("good"), ""},
		"syntax": {named("bad"), "line 2"},
		"own syntax": {func(s *resource.BootEnvSpec) {
			s.Templates = []resource.EnvTemplate{{Name: "a", Path: "{{", Contents: "x"}}
		}, "spec.templates[0].path"},
		"boot params": {func(s *resource.BootEnvSpec) {
			s.OS.SupportedArchitectures["amd64"] = resource.EnvArch{Kernel: "k", BootParams: "{{end}}"}
		}, "bootParams"},
		"nothing": {func(s *resource.BootEnvSpec) { s.OS.SupportedArchitectures["amd64"] = resource.EnvArch{} }, "nothing to boot for amd64"},
		"host function": {func(s *resource.BootEnvSpec) {
			s.Templates = []resource.EnvTemplate{{Name: "a", Path: "a", Contents: `{{env "HOME"}}`}}
		}, "spec.templates[0]"},
	} {
		if got := (envRules{}).BootEnv(env(row.change), texts); (row.want == "") != (len(got) == 0) || !strings.Contains(got.Error(), row.want) {
			t.Errorf("%s: %v, want %q", name, got, row.want)
		}
	}
	if err := (envRules{}).Template("x", `{{.CallTemplate "later" .}}`); err != nil {
		t.Errorf("a template that calls another: %v", err)
	}
	if err := (envRules{}).Template("x", "a\n{{if}}"); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("%v", err)
	}
	text := resource.ParamSpec{Name: "a", Schema: map[string]any{"type": "string"}}
	if err := (envRules{}).Value(text, 1.0); err == nil {
		t.Error("a number was taken for text")
	}
	if err := (envRules{}).Param(resource.ParamSpec{Name: "a", Schema: map[string]any{"type": "word"}}); err == nil {
		t.Error("word was taken for a type")
	}
}
