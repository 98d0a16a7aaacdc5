package bootenv

import (
	"context"
	"encoding/json"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Whatever a template says and a param holds, a rendering ends, within its bounds, with a
// tree or an error that has a code.
func FuzzRender(f *testing.F) {
	for _, seed := range []struct{ path, text, param string }{
		{"p", `{{range until 10}}{{.}}{{end}}`, `1`},
		{`{{.Machine.Path}}/x`, `{{.Param "p"}}{{.ParamExpand "p"}}`, `"{{.Machine.Name}}"`},
		{"p", `{{define "x"}}{{template "x"}}{{end}}{{template "x"}}`, `{}`},
		{"p", `{{range 1000000000}}{{end}}`, `[]`},
		{"p", `{{$d := dict}}{{$_ := set $d "a" $d}}{{$d}}`, `null`},
		{"p", `{{printf "%[1]*d%1000d" 3 4}}{{repeat 100 "x" | indent 3}}`, `"x"`},
		{"p", `{{regexReplaceAll "(a|b)*" (.ParamAsJSON "p") "$1$0"}}`, `{"a":["b"]}`},
		{"p", `{{range .MachineRepos}}{{.Lines}}{{end}}{{.Env.JoinInitrds "http"}}{{.BootParams}}`, `1.5e300`},
		{"../p", `{{fail "x"}}`, `true`},
		{"p", `{{.ParamCompose "p" | toPrettyJson}}{{.ParamAsYAML "p"}}`, `{"a":{"b":[1,2,{"c":null}]}}`},
		{"p", `{{if}}`, `"`},
		{"p", `{{printf "%p" .}}`, `"{{printf \"%p\" .}}"`},
		{"p", `{{.}}{{.Machine}}{{.ParamExpand "p"}}{{range .MachineRepos}}{{.}}{{end}}`, `"{{.}}{{.Env}}"`},
		{"p", `{{with $x := list 1 2 3}}{{range $i, $e := $x}}{{if $i}}{{continue}}{{end}}{{$e}}{{end}}{{end}}`, `"{{"`},
		{"p", `{{chunk 2 (until 9)}}{{uniq (list 1 1)}}{{split "" "abc"}}{{substr 5 1 "abc"}}{{slice "abc" 2 9}}`, `-1`},
	} {
		f.Add(seed.path, seed.text, seed.param)
	}
	f.Fuzz(func(t *testing.T, path, text, param string) {
		var v any
		if err := json.Unmarshal([]byte(param), &v); err != nil {
			v = param
		}
		b := contents(text)
		b.Spec.Templates[0].Path = path
		b.Params[0].Values["p"] = v
		e, err := Merge(b)
		if err != nil {
			coded(t, err)
			return
		}
		tree, err := e.Render(context.Background(), Sample())
		if err != nil {
			coded(t, err)
			return
		}
		for p, f := range tree.Files {
			if why := pathProblem(p); why != "" || len(f.Content) > bounds().FileBytes {
				t.Errorf("%q %s, %d bytes", p, why, len(f.Content))
			}
		}
		again, err := e.Render(context.Background(), Sample())
		if err != nil {
			t.Fatalf("the second time: %v", err)
		}
		for p, f := range tree.Files {
			if string(again.Files[p].Content) != string(f.Content) {
				t.Errorf("%s is another file the second time:\n%s\n%s", p, f.Content, again.Files[p].Content)
			}
		}
	})
}

func coded(t *testing.T, err error) {
	t.Helper()
	if c := protocol.CodeOf(err); c == protocol.CodeInternal {
		t.Errorf("%s: %v", c, err)
	}
}

// Whatever stands in our own params, merging ends with an environment that is sound, or
// with an error that has a code.
func FuzzMerge(f *testing.F) {
	f.Add(`{"debian-12-install":{"clear":["loaders"],"os":{"supportedArchitectures":{"amd64":{"kernel":"k"}}}}}`, repositories, `{"amd64-uefi":"x"}`, `{"type":"string","default":"x"}`)
	f.Add(`{"debian-12-install":{"clear":["templates.seed","os.supportedArchitectures.x86_64.initrds"]}}`, `[{}]`, `[]`, `{"$ref":"#"}`)
	f.Add(`{"debian-12-install":{"templates":[{"name":"seed","path":"{{"}]}}`, `[{"os":["a"],"arch":"$","url":"http://[::1","tag":"x"}]`, `{"x":1}`, `{"$ref":"http://x"}`)
	f.Add(`null`, `null`, `null`, `true`)
	f.Fuzz(func(t *testing.T, custom, repos, loaders, schema string) {
		b := bundle()
		for name, text := range map[string]string{resource.ParamBootEnvCustomize: custom, resource.ParamPackageRepositories: repos, resource.ParamBootloaders: loaders} {
			var v any
			if err := json.Unmarshal([]byte(text), &v); err == nil {
				b.Params[0].Values[name] = v
			}
		}
		var s any
		if err := json.Unmarshal([]byte(schema), &s); err == nil {
			b.Schemas = map[string]resource.ParamSpec{"console": {Name: "console", Schema: s}}
		}
		Lint(b, nil)
		e, err := Merge(b)
		if err != nil {
			coded(t, err)
			return
		}
		for _, a := range e.Spec.OS.SupportedArchitectures {
			if a.Kernel != "" && pathProblem(a.Kernel) != "" {
				t.Errorf("the kernel %q %s", a.Kernel, pathProblem(a.Kernel))
			}
		}
		for _, r := range e.repos {
			if r.InstallSource && (len(r.OS) != 1 || r.Arch == AnyArch) {
				t.Errorf("an install source for %v, %s", r.OS, r.Arch)
			}
		}
		if _, err := e.Root(); err != nil {
			coded(t, err)
		}
	})
}
