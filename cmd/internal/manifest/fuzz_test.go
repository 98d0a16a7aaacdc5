package manifest

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rackboot/protocol/resource"
)

// FuzzParse: no input panics, every error has a line of the file and a message,
// and what is accepted is accepted again as JSON and means the same.
func FuzzParse(f *testing.F) {
	f.Add(good)
	f.Add("apiVersion: rackboot/v1\nkind: Rack\nmetadata: {name: r1}\nspec: {softTimeout: 1m, softTimeout: 2m}\n")
	f.Add("{\"apiVersion\":\"rackboot/v1\",\"kind\":\"Claim\",\"spec\":{\"serverSelector\":{\"matchLabels\":{\"a\":\"b\"}}}}")
	f.Add("apiVersion: rackboot/v1\nkind: BMC\nmetadata:\n  name: b1\nspec:\n  tls:\n    ca: |\n      PEM\n    fingerprint: &x y\n  rackRef: *x\n")
	f.Add("a: b: c\n\t- x")
	f.Add("apiVersion: rackboot/v1\nkind: Secret\nmetadata: {name: s}\nspec: {type: generic, data: {a: Y2FuYXJ5LTlmMWM=}}\n")
	f.Add("apiVersion: rackboot/v1\nkind: Secret\nmetadata: {name: s}\nspec: {type: generic, data: {a: canary-9f1c, b: [7]}}\n")
	f.Add("? [a]\n: 1\n<<: {}\n7: !!binary x\n")
	f.Fuzz(func(t *testing.T, text string) {
		set, err := Parse([]Source{{"f.yaml", []byte(text)}})
		if err != nil {
			if errs, ok := errors.AsType[Errors](err); ok {
				for _, e := range errs {
					if strings.Contains(text, "kind: Secret\n") && e.Text != "" {
						t.Errorf("a Secret is quoted: %+v", e)
					}
					if e.Line < 1 || e.Line > strings.Count(text, "\n")+strings.Count(text, "\r")+1 || e.Message == "" {
						t.Errorf("%+v", e)
					}
				}
			}
			return
		}
		var again []Source
		for _, o := range set.Objects() {
			raw, err := json.Marshal(o)
			if s, ok := o.(*resource.Secret); ok {
				raw, err = s.Reveal()
			}
			if err != nil {
				t.Fatal(err)
			}
			again = append(again, Source{"again.json", raw})
		}
		twice, err := Parse(again)
		if err != nil {
			t.Fatalf("%v\n%s", err, again)
		}
		if d := cmp.Diff(set.Objects(), twice.Objects(), cmpopts.EquateEmpty()); d != "" {
			t.Error(d)
		}
	})
}

// FuzzFromJSON: what rackctl prints as YAML can be applied again and means the
// same, whatever text people put into it.
func FuzzFromJSON(f *testing.F) {
	for _, s := range []string{
		"", "7", "1.10", "0x10", "true", "null", "~", "Off", "2026-11-20T09:00:00Z", "52:54:00:12:34:56",
		"- a", "a: b", "#x", "x #y", "a\nb\n", "\n a\n\n", " x ", "---", "...", "*a", "&a", "!t", "<<", "'", "\"", "\\", "%", "@", "{", "[", "|", ">", "?", "é\u2028\t",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		rack := &resource.Rack{Spec: resource.RackSpec{Description: s}}
		rack.Metadata.Name = "r1"
		rack.Metadata.Labels = map[string]string{"text": s}
		rack.Default()
		raw, err := json.Marshal(rack)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, rack); err != nil { // text that is no UTF-8 changes here
			t.Fatal(err)
		}
		text, err := FromJSON(raw)
		if err != nil {
			t.Fatal(err)
		}
		set, err := Parse([]Source{{"f.yaml", text}})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if d := cmp.Diff(set.Objects()[0], resource.Object(rack)); d != "" {
			t.Errorf("%s\n%s", d, text)
		}
	})
}
