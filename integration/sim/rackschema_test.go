package sim

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	schemaFile  = "../../configs/sim/rack.schema.json"
	exampleFile = "../../configs/sim/rack.yaml"
)

var update = flag.Bool("update", false, "write "+schemaFile)

// TestRackSchema: the schema is that of the type, with the words of its comments, and the
// example fits it.
func TestRackSchema(t *testing.T) {
	schema := schemaOf(t, reflect.TypeFor[RackConfig](), comments(t))
	schema["$schema"], schema["title"] = "https://json-schema.org/draft/2020-12/schema", "The file of rackboot-sim rack"
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(schema); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(schemaFile, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Fatalf("%s is not that of RackConfig (%v); go test ./integration/sim -run RackSchema -update writes it", schemaFile, err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(got))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("rack.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("rack.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		text string
		fits bool
	}{
		"the example":         {string(read(t, exampleFile)), true},
		"an unknown field":    {"machines: [{name: a, interfaces: lo}]", false},
		"a number for a name": {"machines: [{name: 1}]", false},
	} {
		raw, err := yaml.YAMLToJSON([]byte(row.text))
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(v); (err == nil) != row.fits {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestRackExample: the example is read, and is what it says.
func TestRackExample(t *testing.T) {
	c, err := LoadRackConfig(exampleFile)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Machines) != 4 || c.Machines[2].Name != "node-3" || c.Machines[2].BMC != "127.0.0.1:20003" || c.Manifests.File == "" {
		t.Errorf("it is %+v", c)
	}
}

// comments are the comments of the fields of rackconfig.go, by struct and field.
func comments(t *testing.T) map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "rackconfig.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if s, ok := spec.Type.(*ast.StructType); ok {
			for _, field := range s.Fields.List {
				for _, name := range field.Names {
					out[spec.Name.Name+"."+name.Name] = strings.Join(strings.Fields(field.Doc.Text()), " ")
				}
			}
		}
		return true
	})
	return out
}

// schemaOf is the schema of a type of a rack file.
func schemaOf(t *testing.T, typ reflect.Type, words map[string]string) map[string]any {
	t.Helper()
	switch {
	case typ == reflect.TypeFor[time.Duration]():
		return map[string]any{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`}
	case typ.Kind() == reflect.String:
		return map[string]any{"type": "string"}
	case typ.Kind() == reflect.Bool:
		return map[string]any{"type": "boolean"}
	case typ.Kind() == reflect.Int:
		return map[string]any{"type": "integer"}
	case typ.Kind() == reflect.Float64:
		return map[string]any{"type": "number"}
	case typ.Kind() == reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t, typ.Elem(), words)}
	case typ.Kind() == reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t, typ.Elem(), words), "minItems": 1, "maxItems": MaxMachines}
	case typ.Kind() != reflect.Struct:
		t.Fatalf("a field of type %s has no schema", typ)
	}
	properties := map[string]any{}
	for f := range typ.Fields() {
		key := f.Tag.Get("yaml")
		if key == "-" {
			continue
		}
		p := schemaOf(t, f.Type, words)
		if key == inline {
			maps.Copy(properties, p["properties"].(map[string]any))
			continue
		}
		if p["description"] = words[typ.Name()+"."+f.Name]; p["description"] == "" {
			t.Errorf("%s.%s has no comment", typ.Name(), f.Name)
		}
		switch key {
		case "kind":
			p["enum"] = []string{KindSimulated, KindQEMU}
		case "count":
			p["minimum"], p["maximum"] = 1, MaxMachines
		}
		properties[key] = p
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
}
