package route

import (
	"bytes"
	"encoding"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

const schemaFolder = "../../../configs/schemas/"

// duration is what time.ParseDuration reads.
const duration = `^[+-]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`

// TestKindSchemas: the schemas of kinds are those of the types, with the words of their comments, and
// with what Validate refuses.
func TestKindSchemas(t *testing.T) {
	m := schemaMaker{docs: map[string]map[string]string{}, words: map[string]map[string][]string{}}
	for pkg, dir := range map[string]string{"protocol": "../../../protocol", "resource": "../../../protocol/resource"} {
		m.docs[pkg], m.words[pkg] = docsOf(t, dir), wordsOf(filesOf(t, dir))
	}
	var kinds []string
	rules, parts := []any{}, map[string]any{}
	written := map[string]map[string]any{}
	for _, kind := range resource.Kinds() {
		if !kind.Appliable() {
			continue
		}
		s := m.kind(t, kind)
		parts[string(kind)] = maps.Clone(s)
		s["$schema"], s["$id"] = "https://json-schema.org/draft/2020-12/schema", "urn:rackboot:v1:"+string(kind)
		written[strings.ToLower(string(kind))] = s
		kinds = append(kinds, string(kind))
		rules = append(rules, map[string]any{
			"if":   map[string]any{"properties": map[string]any{"kind": map[string]any{"const": kind}}, "required": []string{"kind"}},
			"then": map[string]any{"$ref": "#/$defs/" + string(kind)},
		})
	}
	written["manifest"] = map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "urn:rackboot:v1:manifest", "title": "A file of resources",
		"description": "One resource of any kind. A file may have several, each in a document of its own.",
		"type":        "object", "required": []string{"apiVersion", "kind", "metadata"}, "allOf": rules, "$defs": parts,
		"properties": map[string]any{"apiVersion": map[string]any{"const": resource.APIVersion}, "kind": map[string]any{"enum": kinds}},
	}
	for name, s := range written {
		keep(t, schemaFolder+name+".json", s)
	}
	kept, err := filepath.Glob(schemaFolder + "*.json")
	if err != nil || len(kept) != len(written) {
		t.Errorf("%d files for %d schemas, %v", len(kept), len(written), err)
	}
}

// keep compares a schema with its file, or writes it.
func keep(t *testing.T, file string, schema any) {
	t.Helper()
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(schema); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is not what the types say (%v): make openapi", file, err)
	}
}

func filesOf(t *testing.T, dir string) (out []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(dir + "/*.go")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d files in %s, %v", len(names), dir, err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	return out
}

// schemaMaker makes schemas with texts and words by package and name.
type schemaMaker struct {
	docs  map[string]map[string]string
	words map[string]map[string][]string
}

func (m schemaMaker) kind(t *testing.T, kind resource.Kind) map[string]any {
	typ := reflect.TypeOf(resource.NewObject(kind)).Elem()
	s := m.schema(t, typ, place{kind: kind})
	s["type"], s["title"], s["description"] = "object", string(kind), m.docs["resource"][string(kind)]
	properties := s["properties"].(map[string]any)
	properties["apiVersion"] = map[string]any{"const": resource.APIVersion, "description": "The version of the API."}
	properties["kind"] = map[string]any{"const": kind, "description": "What the resource is."}
	if properties["status"] != nil {
		properties["status"] = map[string]any{"type": []string{"object", "null"}, "description": "What the hub says of it. It may stand in a file that rackctl get wrote, and changes nothing."}
	}
	required := []string{"apiVersion", "kind", "metadata"}
	if refused(kind, map[string]any{}, func(path string) bool { return strings.HasPrefix(path, "spec") }) {
		required = append(required, "spec")
	}
	s["required"] = required
	return s
}

// schema is that of a type at a place. Each may be null, which is as absent, as in the hub.
func (m schemaMaker) schema(t *testing.T, typ reflect.Type, at place) map[string]any {
	t.Helper()
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch {
	case typ == reflect.TypeFor[time.Time]():
		return map[string]any{"type": []string{"string", "null"}, "format": "date-time"}
	case typ == reflect.TypeFor[protocol.Duration]():
		return map[string]any{"type": []string{"string", "null"}, "pattern": duration, "examples": []string{"30s", "5m", "1h30m"}}
	case typ == reflect.TypeFor[resource.Share]():
		return map[string]any{"type": []string{"string", "integer", "null"}, "examples": []string{"5", "25%"}}
	case reflect.PointerTo(typ).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()), reflect.PointerTo(typ).Implements(reflect.TypeFor[json.Unmarshaler]()):
		t.Fatalf("%s reads %s by itself, and has no schema", typ, at)
	}
	switch typ.Kind() {
	case reflect.Interface:
		return map[string]any{}
	case reflect.String:
		s := map[string]any{"type": []string{"string", "null"}}
		if words := m.enum(typ, at); words != nil {
			s["enum"] = words
		}
		return s
	case reflect.Bool:
		return map[string]any{"type": []string{"boolean", "null"}}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return map[string]any{"type": []string{"integer", "null"}}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return map[string]any{"type": []string{"integer", "null"}, "minimum": 0}
	case reflect.Map:
		return map[string]any{"type": []string{"object", "null"}, "additionalProperties": m.schema(t, typ.Elem(), at.below(typ, "x"))}
	case reflect.Slice:
		if typ.Elem().Kind() == reflect.Uint8 {
			return map[string]any{"type": []string{"string", "null"}, "contentEncoding": "base64"}
		}
		return map[string]any{"type": []string{"array", "null"}, "items": m.schema(t, typ.Elem(), at.below(typ, "[0]"))}
	case reflect.Struct:
		return m.structure(t, typ, at)
	}
	t.Fatalf("%s has type %s, which has no schema", at, typ)
	return nil
}

func (m schemaMaker) structure(t *testing.T, typ reflect.Type, at place) map[string]any {
	t.Helper()
	if slices.Contains(at.above, typ) {
		t.Fatalf("%s is part of itself at %s", typ, at)
	}
	properties, required := map[string]any{}, []string{}
	for _, f := range jsonFields(typ) {
		below := at.below(typ, f.name)
		if len(at.steps) == 0 && f.name == "status" {
			properties[f.name] = map[string]any{}
			continue
		}
		s := m.schema(t, f.typ, below)
		if text := m.text(f); text != "" {
			s["description"] = text
		}
		properties[f.name] = s
		if len(at.steps) > 0 && m.always(below, nil) {
			required = append(required, f.name)
		}
	}
	s := map[string]any{"type": []string{"object", "null"}, "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// text is what a field says of itself, and else what its type says.
func (m schemaMaker) text(f jsonField) string {
	if text := m.docs[path.Base(f.of.PkgPath())][f.of.Name()+"."+f.name]; text != "" {
		return text
	}
	typ := f.typ
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	return m.docs[path.Base(typ.PkgPath())][typ.Name()]
}

// enum are the words that a place takes; nil where the hub takes others, or says nothing of it.
func (m schemaMaker) enum(typ reflect.Type, at place) []any {
	known := m.words[path.Base(typ.PkgPath())][typ.Name()]
	if len(known) == 0 || !m.always(at, "no such word") {
		return nil
	}
	var out []any
	if !m.always(at, "") {
		out = append(out, "")
	}
	for _, word := range known {
		out = append(out, word)
	}
	return append(out, nil)
}

// TestKindSchemasHaveTheFields: the schemas have the fields of the OpenAPI document, which huma reads
// from the same types by itself, and no others.
func TestKindSchemasHaveTheFields(t *testing.T) {
	var doc struct {
		Components struct {
			Schemas map[string]map[string]any `json:"schemas"`
		} `json:"components"`
	}
	read := func(file string, into any) {
		raw, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(raw, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	read("../../../docs/openapi.json", &doc)
	compared := 0
	var compare func(at string, ours, theirs map[string]any)
	compare = func(at string, ours, theirs map[string]any) {
		for theirs["$ref"] != nil {
			theirs = doc.Components.Schemas[path.Base(theirs["$ref"].(string))]
		}
		a, _ := ours["properties"].(map[string]any)
		b, _ := theirs["properties"].(map[string]any)
		if !slices.Equal(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b))) {
			t.Errorf("%s: %q, and in the document %q", at, slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b)))
			return
		}
		if len(a) > 0 && ours["additionalProperties"] != false {
			t.Errorf("%s takes any field", at)
		}
		for name := range a {
			if at+name == "status" {
				continue
			}
			compared++
			compare(at+name+".", a[name].(map[string]any), b[name].(map[string]any))
		}
		for _, word := range []string{"items", "additionalProperties"} {
			a, is := ours[word].(map[string]any)
			b, also := theirs[word].(map[string]any)
			if is != also {
				t.Errorf("%s: %s of one only", at, word)
			} else if is {
				compare(at+word+".", a, b)
			}
		}
	}
	for _, kind := range resource.Kinds() {
		if !kind.Appliable() {
			continue
		}
		var ours map[string]any
		read(schemaFolder+strings.ToLower(string(kind))+".json", &ours)
		before := compared
		compare("", ours, doc.Components.Schemas[string(kind)])
		if compared-before < 10 {
			t.Errorf("%s has %d fields", kind, compared-before)
		}
	}
}

// TestDurationPattern: the pattern takes every duration that is read.
func TestDurationPattern(t *testing.T) {
	pattern := regexp.MustCompile(duration)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.StringMatching(`[+-]?([0-9]{0,3}(\.[0-9]{0,2})?(ns|us|µs|μs|ms|s|m|h|d)?){0,3}`),
			rapid.Map(rapid.Int64(), func(n int64) string { return time.Duration(n).String() }),
		).Draw(t, "text")
		if _, err := time.ParseDuration(text); err == nil && !pattern.MatchString(text) {
			t.Errorf("%q is a duration", text)
		}
	})
	for _, text := range []string{"", "90", "5 m", "1d", "soon", "1h30"} {
		if pattern.MatchString(text) {
			t.Errorf("%q is none", text)
		}
	}
}
