package manifest

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzParse: no input panics, every error has a line of the file and a message,
// and what is accepted is accepted again as JSON and means the same.
func FuzzParse(f *testing.F) {
	f.Add(good)
	f.Add("apiVersion: rackboot/v1\nkind: Rack\nmetadata: {name: r1}\nspec: {softTimeout: 1m, softTimeout: 2m}\n")
	f.Add("{\"apiVersion\":\"rackboot/v1\",\"kind\":\"Claim\",\"spec\":{\"serverSelector\":{\"matchLabels\":{\"a\":\"b\"}}}}")
	f.Add("apiVersion: rackboot/v1\nkind: BMC\nmetadata:\n  name: b1\nspec:\n  tls:\n    ca: |\n      PEM\n    fingerprint: &x y\n  rackRef: *x\n")
	f.Add("a: b: c\n\t- x")
	f.Add("? [a]\n: 1\n<<: {}\n7: !!binary x\n")
	f.Fuzz(func(t *testing.T, text string) {
		set, err := Parse([]Source{{"f.yaml", []byte(text)}})
		if err != nil {
			if errs, ok := errors.AsType[Errors](err); ok {
				for _, e := range errs {
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
			if err != nil {
				t.Fatal(err)
			}
			again = append(again, Source{"again.json", raw})
		}
		twice, err := Parse(again)
		if err != nil {
			t.Fatalf("%v\n%s", err, again)
		}
		if d := cmp.Diff(set.Objects(), twice.Objects()); d != "" {
			t.Error(d)
		}
	})
}
