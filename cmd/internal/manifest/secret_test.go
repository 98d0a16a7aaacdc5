package manifest

import (
	"strings"
	"testing"

	"rackboot/protocol/resource"
)

const canary = "canary-9f1c"

// Whatever is wrong with the manifest of a Secret, no error quotes a line or a value.
func TestSecretIsNotQuoted(t *testing.T) {
	const head = "apiVersion: rackboot/v1\nkind: Secret\nmetadata: {name: a}\n"
	for _, row := range []struct{ name, text string }{
		{"no base64", head + "spec: {type: generic, data: {a: " + canary + "}}\n"},
		{"a number", head + "spec: {type: generic, data: {a: 90219021}}\n"},
		{"a list", head + "spec: {type: generic, data: {a: [" + canary + "]}}\n"},
		{"another place", head + "spec: {type: generic, value: " + canary + "}\n"},
		{"not of its type", head + "spec: {type: bmc-credentials, data: {a: Y2FuYXJ5LTlmMWM=}}\n"},
		{"twice", head + "spec:\n  type: generic\n  data:\n    a: " + canary + "\n    a: " + canary + "\n"},
		{"no YAML", head + "spec: {type: generic, data: {a: \"" + canary + "}}\n"},
		{"no YAML, quoted kind", strings.Replace(head, "Secret", `"Secret"`, 1) + "spec: [" + canary + "\n"},
		{"an alias", head + "spec: {type: generic, data: {a: &" + canary + " YQ==}}\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := Parse([]Source{{Name: "s.yaml", Data: []byte(row.text)}})
			if err == nil {
				t.Fatal("it was taken")
			}
			for _, word := range []string{canary, "90219021", "Y2FuYXJ5"} {
				if strings.Contains(err.Error(), word) {
					t.Errorf("quoted: %v", err)
				}
			}
		})
	}
	set, err := Parse([]Source{{Name: "s.yaml", Data: []byte(head + "spec: {type: generic, data: {a: Y2FuYXJ5LTlmMWM=}}\n")}})
	if err != nil {
		t.Fatal(err)
	}
	if s := set.Objects()[0].(*resource.Secret); string(s.Spec.Data["a"]) != canary {
		t.Error("the value was not read")
	}
	if e := set.At(0, "spec.data.a", "wrong"); e.Text != "" {
		t.Errorf("what the hub finds is quoted: %s", e.Text)
	}
}
