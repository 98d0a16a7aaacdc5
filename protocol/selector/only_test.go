package selector

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestOnly(t *testing.T) {
	s := resource.NewObject(resource.KindServer).(*resource.Server)
	s.APIVersion, s.Kind = resource.APIVersion, resource.KindServer
	s.Metadata.Name, s.Metadata.Labels = "n1", map[string]string{"row": "7", "a/b.c": `"{[,:`}
	s.Status.Conditions = []resource.ConditionState{{Code: resource.CondHeld, Message: `a "quoted\" text`}, {Code: resource.CondStale}}
	s.Spec.MACs = []string{"02:00:00:00:00:01"}
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	head := `{"apiVersion":"` + s.APIVersion + `","kind":"Server","metadata":{"name":"n1"`
	for paths, want := range map[string]string{
		"":                         string(raw),
		" , ":                      string(raw),
		"metadata.name":            head + `}}`,
		"kind,kind":                head + `}}`,
		"metadata.labels":          head + `,"labels":{"a/b.c":"\"{[,:","row":"7"}}}`,
		"metadata.labels.row":      head + `,"labels":{"row":"7"}}}`,
		"status.conditions.code":   head + `},"status":{"conditions":[{"code":"Held"},{"code":"Stale"}]}}`,
		"spec.macs,status.phase":   head + `},"spec":{"macs":["02:00:00:00:00:01"]},"status":{}}`,
		"status,status.conditions": "",
	} {
		o, err := ParseOnly(paths, resource.KindServer)
		if err != nil {
			t.Errorf("%q: %v", paths, err)
			continue
		}
		got, err := o.Of(raw)
		if want == "" { // what is wanted whole stays so
			var whole, cut map[string]json.RawMessage
			if json.Unmarshal(raw, &whole) != nil || json.Unmarshal(got, &cut) != nil || !bytes.Equal(whole["status"], cut["status"]) {
				t.Errorf("%q: %s", paths, got)
			}
			continue
		}
		if err != nil || string(got) != want {
			t.Errorf("%q: %s, %v", paths, got, err)
		}
	}
	for _, wrong := range []string{"status.fase", "nothing", "metadata.name.first", ".", "status..phase"} {
		if _, err := ParseOnly(wrong, resource.KindServer); protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

func TestOnlyIsKnownByWhatItWants(t *testing.T) {
	for paths, want := range map[string]string{
		"":                                "",
		"metadata.name":                   "apiVersion,kind,metadata.name",
		"status.phase, kind":              "apiVersion,kind,metadata.name,status.phase",
		"status,status.phase":             "apiVersion,kind,metadata.name,status",
		"status.phase,status":             "apiVersion,kind,metadata.name,status",
		"metadata,spec.macs,status.claim": "apiVersion,kind,metadata,spec.macs,status.claim",
	} {
		o, err := ParseOnly(paths, resource.KindServer)
		if err != nil || o.String() != want {
			t.Errorf("%q: %q, %v", paths, o, err)
		}
	}
	o, err := ParseOnly("metadata.annotations.a,status.conditions", resource.KindServer)
	if err != nil {
		t.Fatal(err)
	}
	if got := o.With("spec.macs", "status").String(); got != "apiVersion,kind,metadata.annotations.a,metadata.name,spec.macs,status" {
		t.Error(got)
	}
	if got := o.String(); got != "apiVersion,kind,metadata.annotations.a,metadata.name,status.conditions" {
		t.Errorf("it was changed: %s", got)
	}
	if got := (Only{}).With("spec"); !got.All() {
		t.Error(got)
	}
	for path, want := range map[string]bool{"status": true, "spec": false, "metadata.annotations": true, "metadata.labels": false, "status.conditions.code": true, "status.phase": false} {
		if o.Wants(path) != want {
			t.Errorf("%s: %t", path, !want)
		}
		if !(Only{}).Wants(path) {
			t.Errorf("%s is not among all", path)
		}
	}
}

// FuzzOnly: of whatever is JSON, that is left which one gets by taking it apart and putting it together; of all else,
// an error or what was there.
func FuzzOnly(f *testing.F) {
	f.Add([]byte(`{"a":{"b":[{"c":1,"d":"\"}"},null,[{"c":{}}]]},"e":"x"}`), "a.b.c,e")
	f.Add([]byte(`[{"a":1},{"a":[]},"a"]`), "a")
	f.Add([]byte(`{"a":`), "a")
	f.Add([]byte(`{,}`), "b")
	f.Add([]byte(`{"a":1,"a":{"b":2}}`), "a.b")
	f.Fuzz(func(t *testing.T, raw []byte, paths string) {
		o := Only{&part{map[string]*part{}}}
		for p := range strings.SplitSeq(paths, ",") {
			o.root.want(strings.Split(p, "."))
		}
		got, err := o.Of(raw)
		var compact bytes.Buffer
		if json.Compact(&compact, raw) != nil || !bytes.Equal(compact.Bytes(), raw) || bytes.ContainsRune(raw, '\\') || twice(raw) {
			return // nobody writes it; it has only not to end the program
		}
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		var whole, cut any
		if err := json.Unmarshal(raw, &whole); err != nil {
			return // a number that is too large
		}
		if err := json.Unmarshal(got, &cut); err != nil {
			t.Fatalf("%q of %s is %s: %v", paths, raw, got, err)
		}
		if want := pick(whole, o.root); !reflect.DeepEqual(cut, want) {
			t.Errorf("%q of %s is %s, want %v", paths, raw, got, want)
		}
	})
}

// pick does what Of does, on values.
func pick(v any, want *part) any {
	switch v := v.(type) {
	case []any:
		if want == nil {
			return v
		}
		out := []any{}
		for _, e := range v {
			out = append(out, pick(e, want))
		}
		return out
	case map[string]any:
		if want == nil {
			return v
		}
		out := map[string]any{}
		for name, of := range want.fields {
			if e, there := v[name]; there {
				out[name] = pick(e, of)
			}
		}
		return out
	}
	return v
}

// twice reports whether a text has an object with a key twice, of which the reader of Go takes the last, or merges
// them. Whether it is so at some depth is not looked at closely: such texts are left out.
func twice(raw []byte) bool {
	d := json.NewDecoder(bytes.NewReader(raw))
	seen := map[string]bool{}
	for {
		tok, err := d.Token()
		if err != nil {
			return false
		}
		if s, is := tok.(string); is {
			if seen[s] {
				return true
			}
			seen[s] = true
		}
	}
}
