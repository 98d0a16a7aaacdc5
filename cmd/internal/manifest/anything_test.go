package manifest

import (
	"encoding/json"
	"strings"
	"testing"

	"rackboot/protocol/resource"
)

func paramsOf(t *testing.T, yaml string) (string, error) {
	t.Helper()
	set, err := Parse([]Source{{Name: "p.yaml", Data: []byte("apiVersion: rackboot/v1\nkind: Profile\nmetadata: {name: p}\nspec:\n  params:\n    v: " + yaml + "\n")}})
	if err != nil {
		return "", err
	}
	raw, err := json.Marshal(set.Objects()[0].(*resource.Profile).Spec.Params["v"])
	return string(raw), err
}

// The values of params have any form.
func TestAnything(t *testing.T) {
	for yaml, want := range map[string]string{
		"text": `"text"`, `"1"`: `"1"`, "1": "1", "-3": "-3", "0.5": "0.5", "true": "true", "[]": "[]", "{}": "{}",
		"[a, 1, {b: [null, false]}]": `["a",1,{"b":[null,false]}]`,
		"|\n      two\n      lines":  `"two\nlines\n"`,
		"\n      a: 1\n      b/c: x": `{"a":1,"b/c":"x"}`,
	} {
		if got, err := paramsOf(t, yaml); err != nil || got != want {
			t.Errorf("%q: %s, %v; want %s", yaml, got, err, want)
		}
	}
	for yaml, want := range map[string]string{
		".inf": "no number that JSON has", ".nan": "no number that JSON has", "*a": "anchors and aliases", "!!str 1": "the tag",
		"{a: 1, a: 2}": "is given twice", "{1: a}": "put it in quotes",
	} {
		if got, err := paramsOf(t, yaml); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "p.yaml:6") {
			t.Errorf("%q: %s, %v; want %q", yaml, got, err, want)
		}
	}
}
