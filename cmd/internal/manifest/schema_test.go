package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"pgregory.net/rapid"

	"rackboot/configs/schemas"
	"rackboot/integration/shellpage"
	"rackboot/protocol/resource"
)

func shipped(t testing.TB) map[resource.Kind][]byte {
	t.Helper()
	out := map[resource.Kind][]byte{}
	for _, k := range resource.Kinds() {
		if raw, ok := schemas.Of(k); ok {
			out[k] = raw
		}
	}
	return out
}

// placeholder is a value that is known when an example is used.
var placeholder = regexp.MustCompile(`\$\{[A-Z_0-9]+\}`)

// examples are the resources of all files and pages that show one, as JSON.
func examples(t testing.TB) (out [][]byte) {
	t.Helper()
	top := filepath.Join("..", "..", "..")
	var texts []string
	for _, pattern := range []string{"configs/*/*.yaml", "configs/demo/*/*.yaml", "integration/*/testdata/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(top, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, f := range files {
			raw, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(raw))
		}
	}
	pages, err := filepath.Glob(filepath.Join(top, "docs", "*", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range shellpage.Blocks(string(raw)) {
			texts = append(texts, b.Text)
		}
	}
	for _, text := range texts {
		text = placeholder.ReplaceAllStringFunc(text, func(name string) string {
			if strings.Contains(name, "MAC") {
				return "52:54:00:00:00:01"
			}
			return "x1"
		})
		for _, c := range split(strings.Split(text, "\n")) {
			if !strings.Contains(c.text, "apiVersion: "+resource.APIVersion) {
				continue
			}
			if raw, err := yaml.YAMLToJSON([]byte(c.text)); err == nil && kindOf(raw).Appliable() {
				out = append(out, raw)
			}
		}
	}
	return out
}

func kindOf(raw []byte) resource.Kind {
	var head resource.Header
	if json.Unmarshal(raw, &head) != nil {
		return ""
	}
	return head.Kind
}

// accepted is the resource that the hub makes of JSON; nil where it refuses it.
func accepted(raw []byte) resource.Object {
	obj := resource.NewObject(kindOf(raw))
	if obj == nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if d.Decode(obj) != nil {
		return nil
	}
	obj.Default()
	if len(obj.Validate()) > 0 {
		return nil
	}
	return obj
}

// fits says what of JSON does not fit the schema of its kind.
func fits(t fataler, all map[resource.Kind]*schema, raw []byte) string {
	s := all[kindOf(raw)]
	if s == nil {
		t.Fatalf("no schema: %s", raw)
	}
	wrong, err := s.check(raw)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if len(wrong) == 0 {
		return ""
	}
	return wrong.Error()
}

type fataler interface{ Fatalf(string, ...any) }

func compiled(t testing.TB) map[resource.Kind]*schema {
	t.Helper()
	out := map[resource.Kind]*schema{}
	for k, raw := range shipped(t) {
		s, err := newSchema(raw)
		if err != nil {
			t.Fatal(err)
		}
		out[k] = s
	}
	return out
}

// TestExamplesFit: every resource that files and pages show fits the schema of its kind and that of
// any kind, as it is written and as rackctl sends it; and there is one of each kind.
func TestExamplesFit(t *testing.T) {
	all := compiled(t)
	whole, err := newSchema(schemas.Any())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[resource.Kind]int{}
	for _, raw := range examples(t) {
		if wrong := fits(t, all, raw); wrong != "" {
			t.Errorf("%s\n%s", wrong, raw)
		}
		if wrong, err := whole.check(raw); err != nil || len(wrong) > 0 {
			t.Errorf("any kind: %v, %v", wrong, err)
		}
		obj := accepted(raw)
		if obj == nil {
			continue // one whose values come later
		}
		seen[obj.Head().Kind]++
		sent, err := json.Marshal(obj)
		if err != nil {
			t.Fatal(err)
		}
		if obj.Head().Kind == resource.KindSecret {
			continue // is not written
		}
		if wrong := fits(t, all, sent); wrong != "" {
			t.Errorf("as sent: %s\n%s", wrong, sent)
		}
	}
	for k := range all {
		if seen[k] == 0 {
			t.Errorf("there is no example of a %s", k)
		}
	}
}

// TestSchemasAreNotStricter: what the hub takes fits its schema, whatever is left out of an example, put
// in its place or set to null.
func TestSchemasAreNotStricter(t *testing.T) {
	all, shown := compiled(t), examples(t)
	taken, changed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		raw := shown[rapid.IntRange(0, len(shown)-1).Draw(t, "example")]
		other := shown[rapid.IntRange(0, len(shown)-1).Draw(t, "other")]
		var doc, from map[string]any
		if json.Unmarshal(raw, &doc) != nil || json.Unmarshal(other, &from) != nil {
			t.Fatalf("%s", raw)
		}
		if from["kind"] == doc["kind"] && rapid.Bool().Draw(t, "mix") {
			maps.Copy(spec(doc), spec(from))
		}
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			change(t, spec(doc))
		}
		got, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		changed++
		if accepted(got) == nil {
			return
		}
		taken++
		if wrong := fits(t, all, got); wrong != "" {
			t.Fatalf("%s\n%s", wrong, got)
		}
	})
	if taken*20 < changed {
		t.Errorf("the hub takes %d of %d", taken, changed)
	}
}

func spec(doc map[string]any) map[string]any {
	s, is := doc["spec"].(map[string]any)
	if !is {
		s = map[string]any{}
		doc["spec"] = s
	}
	return s
}

// change takes a value out of a tree, or puts another there.
func change(t *rapid.T, at map[string]any) {
	if len(at) == 0 {
		return
	}
	key := rapid.SampledFrom(slices.Sorted(maps.Keys(at))).Draw(t, "key")
	if inner, is := at[key].(map[string]any); is && rapid.Bool().Draw(t, "deeper") {
		change(t, inner)
		return
	}
	if list, is := at[key].([]any); is && len(list) > 0 && rapid.Bool().Draw(t, "into") {
		if inner, is := list[0].(map[string]any); is {
			change(t, inner)
			return
		}
	}
	words := []any{nil, "", "x", "On", "none", "full", "All", "1m", "0", "25%", 1, 0, -1, true, []any{}, map[string]any{}, []any{"x"}, map[string]any{"name": "x"}}
	if i := rapid.IntRange(0, len(words)).Draw(t, "value"); i < len(words) {
		at[key] = words[i]
		return
	}
	delete(at, key)
}

// TestMisspeltFieldsDoNotFit: one letter more in the name of any field of any example is found, by the
// schema and by the reader of files.
func TestMisspeltFieldsDoNotFit(t *testing.T) {
	all := compiled(t)
	tried := 0
	for _, raw := range examples(t) {
		var doc map[string]any
		if err := json.Unmarshal(raw, &doc); err != nil {
			t.Fatal(err)
		}
		for key, value := range spec(doc) {
			bad := maps.Clone(spec(doc))
			delete(bad, key)
			bad[key+"z"] = value
			got, err := json.Marshal(map[string]any{"apiVersion": doc["apiVersion"], "kind": doc["kind"], "metadata": doc["metadata"], "spec": bad})
			if err != nil {
				t.Fatal(err)
			}
			tried++
			want := fmt.Sprintf("spec.%sz: is no field that the hub knows; did you mean %s?", key, key)
			if wrong := fits(t, all, got); !strings.Contains(wrong, want) {
				t.Errorf("%q, and not %q", wrong, want)
			}
			want = fmt.Sprintf("spec.%sz: is no field here; did you mean %s?", key, key)
			if _, err := Parse([]Source{{"a.json", got}}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, and not %q", err, want)
			}
		}
	}
	if tried < 100 {
		t.Errorf("%d fields", tried)
	}
}

// TestFitSaysWhere: what a hub does not know is named with file, document, line and what it knows. Of a
// Secret nothing is quoted.
func TestFitSaysWhere(t *testing.T) {
	const text = `apiVersion: rackboot/v1
kind: Rack
metadata: {name: r1}
---
apiVersion: rackboot/v1
kind: Claim
metadata: {name: c1}
spec:
  serverRef: {name: n1}
  image: registry.example/os:1
  power: "On"
  bootPolicy:
    firstBoot: UefiHttp
---
apiVersion: rackboot/v1
kind: Secret
metadata: {name: s1}
spec:
  type: generic
  data: {canary: Y2FuYXJ5}
`
	set, err := Parse([]Source{{"a.yaml", []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Fit(shipped(t)); err != nil {
		t.Fatal(err)
	}
	// A hub of before: it has no first boot by HTTP, calls power otherwise, and wants names of other types.
	older := map[resource.Kind][]byte{
		resource.KindClaim: []byte(`{"type": "object", "properties": {"spec": {"properties": {
			"serverRef": {}, "image": {"type": ["integer", "null"]}, "powers": {}, "bootPolicy": {"properties": {"firstBoot": {"enum": ["", "Pxe", null]}}}},
			"additionalProperties": false, "required": ["image", "place"]}}}`),
		resource.KindSecret: []byte(`{"properties": {"spec": {"properties": {"data": {"additionalProperties": {"pattern": "^x"}}}}}}`),
	}
	errs, is := errors.AsType[Errors](set.Fit(older))
	want := []string{
		"a.yaml:13: document 2: spec.bootPolicy.firstBoot: is not one of Pxe, which the hub knows\n    firstBoot: UefiHttp",
		"a.yaml:10: document 2: spec.image: is string; the hub takes integer\n    image: registry.example/os:1",
		"a.yaml:8: document 2: spec.place: is missing\n    spec:",
		"a.yaml:11: document 2: spec.power: is no field that the hub knows; did you mean powers?; there are bootPolicy, image, powers, serverRef\n    power: \"On\"",
		"a.yaml:20: document 3: spec.data.canary: does not fit the hub's schema, by pattern",
	}
	if !is || len(errs) != len(want) {
		t.Fatalf("%v", errs)
	}
	for i, e := range errs {
		if e.Error() != want[i] {
			t.Errorf("got  %s\nwant %s", e, want[i])
		}
	}
	if err := set.Fit(map[resource.Kind][]byte{resource.KindRack: []byte(`{"$ref": "https://example.com/x"}`)}); err == nil {
		t.Error("a schema that refers to somewhere else is taken")
	}
}

// FuzzFit: no schema that a hub sends and no file panics, and what does not fit has a line.
func FuzzFit(f *testing.F) {
	rack, _ := schemas.Of(resource.KindRack)
	f.Add(string(rack), good)
	f.Add(`{"properties": {"spec": {"additionalProperties": false}}}`, good)
	f.Add(`{"items": 7}`, good)
	f.Fuzz(func(t *testing.T, schema, text string) {
		set, err := Parse([]Source{{"f.yaml", []byte(text)}})
		if err != nil || len(schema) > 4<<10 {
			return
		}
		errs, _ := errors.AsType[Errors](set.Fit(map[resource.Kind][]byte{resource.KindRack: []byte(schema)}))
		for _, e := range errs {
			if e.Line < 1 || e.Message == "" {
				t.Errorf("%+v", e)
			}
		}
	})
}

func TestNear(t *testing.T) {
	names := []string{"bootMAC", "bootMode", "macs", "segmentRef", "ui"}
	for word, want := range map[string]string{
		"bootmac": "bootMAC", "segmentRf": "segmentRef", "segmetnRef": "segmentRef", "mac": "macs", "bootMod": "bootMode",
		"colour": "", "": "", "u": "ui", "z": "",
	} {
		if got := near(word, names); got != want {
			t.Errorf("%q: %q, not %q", word, got, want)
		}
	}
}
