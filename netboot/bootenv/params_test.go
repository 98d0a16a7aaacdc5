package bootenv

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func decode(t testing.TB, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// sourced is the bundle with a template, and values of the param p by source, the most
// specific first; empty is none. schema is of p, if it is not empty.
func sourced(t testing.TB, text, schema string, values ...string) resource.EnvBundle {
	b := contents(text)
	for i, name := range []string{"server", "profile first", "profile second", "group web", "profile global"} {
		p := resource.EnvParams{Source: name, Values: map[string]any{"console": "c"}}
		if i < len(values) && values[i] != "" {
			p.Values["p"] = decode(t, values[i])
		}
		if i == 0 {
			b.Params = nil
		}
		b.Params = append(b.Params, p)
	}
	if schema != "" {
		b.Schemas = map[string]resource.ParamSpec{"p": {Name: "p", Schema: decode(t, schema)}}
	}
	return b
}

// Facts, Param precedence; design: server > profiles in order > group > global > schema
// default.
func TestParams(t *testing.T) {
	const p, yaml = `{{.Param "p"}}`, `{{.ParamAsYAML "p"}}`
	const composed = `{{.ParamCompose "p" | toJson}}`
	for _, row := range []struct {
		name, text, schema string
		values             []string
		want               string
	}{
		{"the server's", p, "", []string{`1`, `2`, `3`, `4`, `5`}, "1"},
		{"the first profile's", p, "", []string{"", `2`, `3`, `4`, `5`}, "2"},
		{"the second profile's", p, "", []string{"", "", `3`, `4`, `5`}, "3"},
		{"the group's", p, "", []string{"", "", "", `4`, `5`}, "4"},
		{"the global profile's", p, "", []string{"", "", "", "", `5`}, "5"},
		{"the schema's default", p, `{"type":"integer","default":6}`, nil, "6"},
		{"a value before the default", p, `{"type":"integer","default":6}`, []string{"", "", "", "", `5`}, "5"},
		{"a map is not merged by .Param", `{{.Param "p" | toJson}}`, "", []string{`{"a":1}`, `{"b":2}`}, `{"a":1}`},
		{"exists", `{{.ParamExists "p"}}`, "", []string{"", "", "", `4`}, "true"},
		{"exists by its default", `{{.ParamExists "p"}}`, `{"default":null}`, nil, "true"},
		{"does not exist", `{{.ParamExists "p"}}`, `{"type":"string"}`, nil, "false"},
		{"a large number is printed in full", p, "", []string{`20000000`}, "20000000"},
		{"a number that no float has", p, "", []string{`9007199254740993`}, "9007199254740993"},
		{"a fraction", p, "", []string{`1.5`}, "1.5"},
		{"false is a value", p, "", []string{`false`, `true`}, "false"},
		{"compose: maps, the most specific wins", composed, "", []string{`{"a":1,"m":{"x":1}}`, `{"a":2,"b":2,"m":{"x":2,"y":2}}`, "", "", `{"c":5}`}, `{"a":1,"b":2,"c":5,"m":{"x":1,"y":2}}`},
		{"compose: lists one after the other", composed, "", []string{`[1]`, `[2,1]`, "", "", `[5]`}, `[1,2,1,5]`},
		{"compose: of anything else the first", composed, "", []string{"", `2`, `3`}, `2`},
		{"compose: the default", composed, `{"default":[6]}`, nil, `[6]`},
		{"compose: no default where there is a value", composed, `{"default":[6]}`, []string{`[1]`}, `[1]`},
		{"JSON", `{{.ParamAsJSON "p"}}`, "", []string{`{"b":[1,"x"],"a":null}`}, `{"a":null,"b":[1,"x"]}`},
		{"YAML", yaml, "", []string{`{"b":[1,"x"],"a":"y"}`}, "a: \"y\"\nb:\n- 1\n- x\n"},
		{"expand", `{{.ParamExpand "p"}}`, "", []string{`"on {{.Machine.Name | upper}}"`}, "on NODE1.EXAMPLE"},
		{"expand in a value", `{{.ParamExpand "p" | toJson}}`, "", []string{`{"a":["{{.Machine.ShortName}}",1]}`}, `{"a":["node1",1]}`},
		{"without expand a template is a text", p, "", []string{`"{{.Machine.Name}}"`}, "{{.Machine.Name}}"},
		{"StringExpand", `{{.StringExpand "{{.Env.Name}}"}}`, "", nil, "debian-12-install"},
		{"a template changes its own copy", `{{$_ := set (.Param "p") "a" 2}}{{(.Param "p").a}}`, "", []string{`{"a":1}`}, "1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			e := merged(t, sourced(t, row.text, row.schema, row.values...))
			tree, err := e.Render(context.Background(), Sample())
			if got := string(tree.Files["t"].Content); got != row.want || err != nil {
				t.Errorf("%q, %v; want %q", got, err, row.want)
			}
		})
	}
}

func TestParamErrors(t *testing.T) {
	for _, row := range []struct {
		name, text, schema string
		values             []string
		want               string
	}{
		{"no value", `{{.Param "p"}}`, "", nil, `param "p" has no value`},
		{"compose without a value", `{{.ParamCompose "p"}}`, "", nil, `param "p" has no value`},
		{"compose of a map and a list", `{{.ParamCompose "p"}}`, "", []string{`{}`, `[]`}, `of server and of profile first: one is a map and the other is not`},
		{"a wrong type", "", `{"type":"integer"}`, []string{"", `"x"`}, "profile first: params.p does not fit the schema: got string, want integer"},
		{"its place", "", `{"properties":{"a":{"items":{"type":"integer"}}}}`, []string{"", "", "", "", `{"a":[1,"x"]}`}, "profile global: params.p does not fit the schema: at /a/1 got string, want integer"},
		{"a less specific source is checked too", "", `{"maximum":3}`, []string{`1`, "", "", `9`}, "group web: params.p does not fit the schema: maximum: got 9, want 3"},
		{"a format", "", `{"format":"ipv4"}`, []string{`"x"`}, "is not valid ipv4"},
		{"a schema that is none", "", `{"type":"vax"}`, nil, "schema of p: it is no JSON Schema"},
		{"a schema of another kind", "", `["string"]`, nil, "a schema is an object"},
		{"a default that does not fit", "", `{"type":"integer","default":"x"}`, nil, "its default does not fit the schema"},
		{"a remote reference", "", `{"$ref":"http://192.0.2.1/schema"}`, nil, "it refers to http://192.0.2.1/schema; a schema refers to nothing outside of itself"},
		{"a reference to a file", "", `{"$ref":"file:///etc/passwd"}`, nil, "a schema refers to nothing outside of itself"},
		{"a remote dialect", "", `{"$schema":"http://192.0.2.1/dialect"}`, nil, "a schema refers to nothing outside of itself"},
		{"a large schema", "", `{"description":"` + strings.Repeat("x", maxSchema) + `"}`, nil, "the schema has more than 65536 bytes"},
		{"expand a template with an error", `{{.ParamExpand "p"}}`, "", []string{`"{{ now }}"`}, `the value is no template: line 1: function "now" is left out`},
	} {
		t.Run(row.name, func(t *testing.T) {
			e, err := Merge(sourced(t, row.text+"x", row.schema, row.values...))
			if err == nil {
				_, err = e.Render(context.Background(), Sample())
			}
			if err == nil || !strings.Contains(err.Error(), row.want) || protocol.CodeOf(err) != protocol.CodeInvalid {
				t.Errorf("%v, want %s", err, row.want)
			}
		})
	}
}

// A schema that is there, on the host that checks, is not read either.
func TestSchemaReadsNoFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(file, []byte(`{"type":"integer"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	err := CheckParam(resource.ParamSpec{Name: "p", Schema: map[string]any{"$ref": "file://" + file}})
	if err == nil || !strings.Contains(err.Error(), "a schema refers to nothing outside of itself") {
		t.Error(err)
	}
}

// A schema may refer to itself.
func TestSchemaOfItself(t *testing.T) {
	spec := resource.ParamSpec{Name: "p", Schema: decode(t, `{"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}},"$ref":"#/$defs/n"}`)}
	if err := CheckParam(spec); err != nil {
		t.Error(err)
	}
	if err := CheckValue(spec, "server", decode(t, `{"next":{"next":1}}`), false); err == nil || !strings.Contains(err.Error(), "at /next/next got number, want object") {
		t.Error(err)
	}
}

// The values of our own params are checked without a description too.
func TestCheckValueOfOurs(t *testing.T) {
	for _, row := range []struct{ name, value, want string }{
		{resource.ParamPackageRepositories, `[{"tag":"x"}]`, "params.package-repositories[0].os has no os"},
		{resource.ParamPackageRepositories, `{}`, "params.package-repositories is no list"},
		{resource.ParamBootloaders, `{"vax-uefi":"x"}`, `names "vax-uefi", which is not a supported loader type`},
		{resource.ParamBootloaders, `{"amd64-uefi":"../x"}`, "has for amd64-uefi a path that has .. in it"},
		{resource.ParamBootEnvCustomize, `{"e":{"kernel":"x"}}`, `unknown field "kernel"`},
		{resource.ParamBootEnvCustomize, `{"e":{"clear":["x"]}}`, `params.bootenv-customize.e.clear[0] clears "x"`},
		{resource.ParamBootEnvCustomize, `{"e":{"clear":["templates.x","loaders"]}}`, ""},
		{resource.ParamBootloaders, `{"amd64-uefi":"x.efi"}`, ""},
	} {
		err := CheckValue(resource.ParamSpec{Name: row.name, Schema: true}, "profile x", decode(t, row.value), false)
		if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), "profile x: ") || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: %v, want %s", row.value, err, row.want)
		}
	}
}

// Each rendered file says which params it used, and where their values are from.
func TestOrigins(t *testing.T) {
	b := sourced(t, `{{.Param "p"}}{{.Param "console"}}{{.Param "secret"}}{{.ParamCompose "q"}}`, `{"default":1}`)
	b.Params[1].Values["secret"], b.Params[1].Secret = "xyzzy", []string{"secret"}
	b.Params[1].Values["q"], b.Params[3].Values["q"] = []any{1}, []any{2}
	b.Spec.Templates = append(b.Spec.Templates, written("none", "n", "x"))
	tree := rendered(t, b)
	text, err := json.Marshal(tree.Files["t"].Origins)
	const want = `[{"param":"console","source":"server"},{"param":"p","source":"default of the schema"},{"param":"q","source":"group web"},{"param":"q","source":"profile first"},{"param":"secret","source":"profile first","secret":true}]`
	if string(text) != want || err != nil {
		t.Errorf("%s, %v", text, err)
	}
	if len(tree.Files["n"].Origins) != 0 {
		t.Errorf("of another file: %v", tree.Files["n"].Origins)
	}
}
