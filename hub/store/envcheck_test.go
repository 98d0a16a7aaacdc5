package store

import (
	"errors"
	"strings"
	"testing"

	"rackboot/hub/store/storetest"
	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestBootEnvRefusedTable(t *testing.T) {
	doctable.Of(t, "envcheck.go", "bootEnvRefused").Hold(t, [][]string{
		doctable.Words(resource.Purposes()...), doctable.YesNo(), doctable.YesNo(),
	}, func(in []string) []string {
		why, _, _ := strings.Cut(bootEnvRefused(resource.Purpose(in[0]), in[1] == "yes", in[2] == "yes"), ": ")
		why, _, _ = strings.Cut(why, " alone (")
		why, _, _ = strings.Cut(why, " (")
		if why == "" {
			why = "no"
		}
		return []string{why}
	})
}

// textRules take values that are text, and nothing with the word bad in it.
type textRules struct{}

func (textRules) Param(p resource.ParamSpec) error {
	if m, ok := p.Schema.(map[string]any); ok && m["type"] == "bad" {
		return errors.New("bad type")
	}
	return nil
}

func (textRules) Value(p resource.ParamSpec, v any) error {
	if p.Schema == true {
		return nil
	}
	if _, ok := v.(string); !ok {
		return errors.New("is no text")
	}
	return nil
}

func (textRules) Typed(param string, value any) protocol.FieldErrors {
	if param == "typed" && value != "right" {
		return protocol.FieldErrors{{Path: "[0].url", Message: "is wrong"}}
	}
	return nil
}

func (textRules) Template(_, contents string) error {
	if strings.Contains(contents, "bad") {
		return errors.New("line 1: bad")
	}
	return nil
}

func (textRules) BootEnv(e *resource.BootEnv, template func(string) (string, bool)) protocol.FieldErrors {
	for _, t := range e.Spec.Templates {
		if _, ok := template(t.ID); t.ID != "" && !ok {
			return protocol.FieldErrors{{Path: "spec.templates", Message: "no text of " + t.ID}}
		}
	}
	return nil
}

func object[T resource.Object](o T, name string) T {
	o.Head().Metadata.Name = name
	o.Default()
	return o
}

func aParam(name, param string, schema any) *resource.Param {
	return object(&resource.Param{Spec: resource.ParamSpec{Name: param, Schema: schema}}, name)
}

func aProfile(name string, params map[string]any) *resource.Profile {
	return object(&resource.Profile{Spec: resource.ProfileSpec{Params: params}}, name)
}

func anEnv(name string, change func(*resource.BootEnvSpec)) *resource.BootEnv {
	e := &resource.BootEnv{Spec: resource.BootEnvSpec{OS: resource.EnvOS{Name: "debian-12"}}}
	if change != nil {
		change(&e.Spec)
	}
	return object(e, name)
}

// Each row is applied to a site that has a param, a profile and two environments.
func TestApplyEnvironments(t *testing.T) {
	text := map[string]any{"type": "string"}
	claim := func(env string) *resource.Claim {
		c := storetest.Claim("c2", "n1")
		c.Spec.Image, c.Spec.BootEnv = "", &resource.Ref{Name: env}
		return c
	}
	maintenance := func(env string) *resource.Maintenance {
		return object(&resource.Maintenance{Spec: resource.MaintenanceSpec{
			ServerRef: resource.Ref{Name: "n1"}, Reason: "x", Boot: resource.MaintenanceBoot{BootEnv: &resource.Ref{Name: env}},
		}}, "m1")
	}
	discovery := func(env string) *resource.Rack {
		r := storetest.Rack("r1")
		r.Spec.Discovery = &resource.RackDiscovery{BootEnv: &resource.Ref{Name: env}}
		r.Default()
		return r
	}
	server := func(change func(*resource.ServerSpec)) *resource.Server {
		s := storetest.Server("n9", "b1", "boot", "02:00:00:00:00:99")
		s.Spec.SystemURI = "/redfish/v1/Systems/9"
		change(&s.Spec)
		return s
	}
	onlyUnknown := func(s *resource.BootEnvSpec) { s.OnlyUnknown = true }
	destructive := func(s *resource.BootEnvSpec) { s.Destructive = true }
	byID := func(s *resource.BootEnvSpec) {
		s.Templates = []resource.EnvTemplate{{Name: "seed", Path: "seed", ID: "preseed"}}
	}
	for name, c := range map[string]struct {
		objs []resource.Object
		want string
	}{
		"claim":                      {[]resource.Object{claim("install")}, ""},
		"claim of none":              {[]resource.Object{claim("gone")}, `spec.bootEnv.name: BootEnv "gone" does not exist`},
		"claim of discovery's":       {[]resource.Object{claim("sniff")}, "spec.bootEnv.name: BootEnv \"sniff\" cannot be named here: it is for discovery alone"},
		"claim that wipes":           {[]resource.Object{claim("wipe")}, "it discards disks"},
		"maintenance that wipes":     {[]resource.Object{maintenance("wipe")}, ""},
		"maintenance of discovery's": {[]resource.Object{maintenance("sniff")}, "spec.boot.bootEnv.name"},
		"discovery":                  {[]resource.Object{discovery("sniff")}, ""},
		"discovery of another":       {[]resource.Object{discovery("install")}, "spec.discovery.bootEnv.name: BootEnv \"install\" cannot be named here: it is not for discovery"},
		"in one set":                 {[]resource.Object{claim("new"), anEnv("new", nil)}, ""},
		"in one set, wrong":          {[]resource.Object{claim("new"), anEnv("new", destructive)}, "it discards disks"},
		"use against it":             {[]resource.Object{anEnv("used", destructive)}, "spec: Claim/c1 cannot go on naming it: it discards disks"},
		"use, to discovery":          {[]resource.Object{anEnv("used", onlyUnknown)}, "Claim/c1 cannot go on naming it"},
		"template":                   {[]resource.Object{anEnv("t", byID), object(&resource.Template{Spec: resource.TemplateSpec{Contents: "x"}}, "preseed")}, ""},
		"template of none":           {[]resource.Object{anEnv("t", byID)}, `spec.templates[0].id: Template "preseed" does not exist`},
		"template with an error":     {[]resource.Object{object(&resource.Template{Spec: resource.TemplateSpec{Contents: "bad"}}, "x")}, "spec.contents: line 1: bad"},
		"value":                      {[]resource.Object{aProfile("q", map[string]any{"who": "x"})}, ""},
		"value of a form":            {[]resource.Object{aProfile("q", map[string]any{"typed": "right"})}, ""},
		"value of another form":      {[]resource.Object{aProfile("q", map[string]any{"typed": 1})}, "spec.params.typed[0].url: is wrong"},
		"value that does not fit":    {[]resource.Object{aProfile("q", map[string]any{"who": 1})}, "spec.params.who: is no text"},
		"group's value":              {[]resource.Object{serverGroup("g", func(g *resource.ServerGroup) { g.Spec.Params = map[string]any{"who": true} })}, "spec.params.who: is no text"},
		"schema that a group's value does not fit": {[]resource.Object{serverGroup("g", func(g *resource.ServerGroup) { g.Spec.Params = map[string]any{"n": 2} }), aParam("n", "n", text)}, "spec.params.n: is no text"},
		"group's name of a param":                  {[]resource.Object{serverGroup("g", func(g *resource.ServerGroup) { g.Spec.Params = map[string]any{"/": true} })}, "is not the name of a param"},
		"server's value":                           {[]resource.Object{server(func(s *resource.ServerSpec) { s.Params = map[string]any{"who": true} })}, "spec.params.who: is no text"},
		"value nobody describes":                   {[]resource.Object{aProfile("q", map[string]any{"free": 1})}, ""},
		"profile of none":                          {[]resource.Object{server(func(s *resource.ServerSpec) { s.Profiles = []string{"p", "gone"} })}, `spec.profiles[1]: Profile "gone" does not exist`},
		"schema that is none":                      {[]resource.Object{aParam("x", "x", map[string]any{"type": "bad"})}, "spec.schema: bad type"},
		"param described twice":                    {[]resource.Object{aParam("x", "who", true)}, `spec.name: Param "who" describes who already`},
		"schema that values fit":                   {[]resource.Object{aParam("who", "who", map[string]any{"type": "string", "minLength": 1})}, ""},
		"schema that they do not":                  {[]resource.Object{aParam("n", "n", text)}, "spec.schema: the values of Profile/p do not fit it"},
		"schema and values in one set":             {[]resource.Object{aParam("n", "n", text), aProfile("p", map[string]any{"n": "one"})}, ""},
		"schema and values, wrong":                 {[]resource.Object{aParam("n", "n", text), aProfile("p", map[string]any{"n": 2})}, "spec.params.n: is no text"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, storetest.NewMemory())
			s.Sets.rules = textRules{}
			used := storetest.Claim("c1", "n2")
			used.Spec.Image, used.Spec.BootEnv = "", &resource.Ref{Name: "used"}
			base := append(storetest.Site(), aParam("who", "who", text), aProfile("p", map[string]any{"who": "me", "n": 1}), anEnv("install", nil), anEnv("used", nil), anEnv("sniff", onlyUnknown), anEnv("wipe", destructive), used)
			if _, err := s.Sets.Apply(t.Context(), base, ApplyOptions{By: "test"}); err != nil {
				t.Fatal(err)
			}
			_, err := s.Sets.Apply(t.Context(), c.objs, ApplyOptions{By: "test"})
			if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
		})
	}
}

// A Secret of params is what a paramsSecretRef names, and nothing that is named goes.
func TestParamsSecretRef(t *testing.T) {
	s := open(t, storetest.NewMemory())
	p := aProfile("p", nil)
	p.Spec.ParamsSecretRef = &resource.Ref{Name: "none"}
	if _, err := s.Sets.Apply(t.Context(), []resource.Object{p}, ApplyOptions{}); err == nil || !strings.Contains(err.Error(), `spec.paramsSecretRef.name: Secret "none" does not exist`) {
		t.Errorf("%v", err)
	}
	if _, err := s.Sets.Apply(t.Context(), []resource.Object{anEnv("e", func(s *resource.BootEnvSpec) {
		s.Templates = []resource.EnvTemplate{{Name: "a", Path: "a", ID: "t"}}
	}), object(&resource.Template{Spec: resource.TemplateSpec{Contents: "x"}}, "t")}, ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Delete(t.Context(), resource.KindTemplate, "t"); protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(err.Error(), "BootEnv/e") {
		t.Errorf("%v", err)
	}
}
