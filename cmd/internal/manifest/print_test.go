package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFromJSON(t *testing.T) {
	got, err := FromJSON([]byte(`{"name":"n1","empty":{},"none":[],"on":true,"null":null,"n":1.5,
		"list":[{"x":1,"y":["a","7"]},["b",["c"]],{},[],{"z":{"deep":"true"}}],
		"pem":"-----BEGIN\nabc=\n-----END\n","url":"https://h:1/x","mac":"52:54:00:12:34:56","row: 7":"a b"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `name: n1
empty: {}
none: []
"on": true
"null": null
"n": 1.5
list:
  - x: 1
    "y":
      - a
      - "7"
  - - b
    - - c
  - {}
  - []
  - z:
      deep: "true"
pem: |
  -----BEGIN
  abc=
  -----END
url: https://h:1/x
mac: "52:54:00:12:34:56"
"row: 7": "a b"
`
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Fatal(d)
	}
	for _, raw := range []string{"", "{", `{"a":`, `{"a":1]`} {
		if _, err := FromJSON([]byte(raw)); err == nil {
			t.Errorf("%q was taken", raw)
		}
	}
}
