package store

import (
	"strings"
	"testing"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestDeleteInUse: a Template or a Param that an environment comes to is not deleted, and who
// uses it is named; nobody's is.
func TestDeleteInUse(t *testing.T) {
	template := func(name, text string) *resource.Template {
		o := &resource.Template{Spec: resource.TemplateSpec{Contents: text}}
		o.Metadata.Name = name
		o.Default()
		return o
	}
	param := func(name, of string) *resource.Param {
		o := &resource.Param{Spec: resource.ParamSpec{Name: of, Schema: map[string]any{"type": "string"}}}
		o.Metadata.Name = name
		o.Default()
		return o
	}
	env := &resource.BootEnv{Spec: resource.BootEnvSpec{
		OS: resource.EnvOS{Name: "x-1"}, OptionalParams: []string{"listed"},
		Templates: []resource.EnvTemplate{{Name: "a", Path: "a", ID: "outer"}, {Name: "b", Path: "b", Contents: `{{.CallTemplate "literal" .}} {{.ParamExpand "own/text"}}`}},
	}}
	env.Metadata.Name = "x"
	env.Default()
	profile := &resource.Profile{Spec: resource.ProfileSpec{Params: map[string]any{"valued": "v"}}}
	profile.Metadata.Name = "p"
	profile.Default()
	s := open(t, storetest.NewMemory())
	objs := []resource.Object{
		template("outer", `{{template "inner" .}}`), template("inner", `{{.Param "in/template"}}`), template("literal", ""), template("free", `{{.Param "free"}} {{template "alone" .}}`), template("alone", ""),
		param("listed", "listed"), param("own", "own/text"), param("inner", "in/template"), param("valued", "valued"), param("free", "free"), env, profile,
	}
	if _, err := s.Sets.Apply(t.Context(), objs, ApplyOptions{By: "admin"}); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		kind  resource.Kind
		name  string
		users string
	}{
		{resource.KindTemplate, "outer", "BootEnv/x"},
		{resource.KindTemplate, "inner", "BootEnv/x"},
		{resource.KindTemplate, "literal", "BootEnv/x"},
		{resource.KindTemplate, "alone", ""}, // only of one that nobody uses
		{resource.KindTemplate, "free", ""},
		{resource.KindParam, "listed", "BootEnv/x"},
		{resource.KindParam, "own", "BootEnv/x"},
		{resource.KindParam, "inner", "BootEnv/x"},
		{resource.KindParam, "valued", "Profile/p"},
		{resource.KindParam, "free", ""},
	} {
		_, err := s.Delete(t.Context(), row.kind, row.name)
		switch {
		case row.users == "" && err != nil:
			t.Errorf("%s %s: %v", row.kind, row.name, err)
		case row.users != "" && (protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(err.Error(), "in use by "+row.users)):
			t.Errorf("%s %s: %v, want a conflict that names %s", row.kind, row.name, err, row.users)
		}
	}
	if _, err := s.Delete(t.Context(), resource.KindBootEnv, "x"); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		kind resource.Kind
		name string
	}{{resource.KindTemplate, "outer"}, {resource.KindTemplate, "inner"}, {resource.KindParam, "own"}} {
		if _, err := s.Delete(t.Context(), row.kind, row.name); err != nil {
			t.Errorf("%s %s of an environment that is gone: %v", row.kind, row.name, err)
		}
	}
}
