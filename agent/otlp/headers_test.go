package otlp

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"
)

func TestParseHeaders(t *testing.T) {
	for _, tt := range []struct{ name, text, want, says string }{
		{"none", "", "map[]", ""},
		{"two, with a comment", "# of the collector\n\nauthorization: Bearer a:b=c \r\nX-Scope-OrgID:racks\n", "map[Authorization:[Bearer a:b=c] X-Scope-Orgid:[racks]]", ""},
		{"one name twice", "a: 1\na: 2", "map[A:[1 2]]", ""},
		{"no colon", "ok: 1\nBearer secret", "", "line 2 is not a header"},
		{"no name", ": secret", "", "line 1 is not a header"},
		{"no value", "x-key:", "", "line 1 is not a header"},
		{"a name with a space", "secret key: secret", "", "line 1 is not a header"},
		{"a control character", "x-key: secret\x00", "", "line 1 is not a header"},
		{"ours", "content-type: secret", "", "line 1 sets Content-Type, which the agent sets itself"},
		{"too many", strings.Repeat("x: secret\n", maxHeaders+1), "", "more than 64 lines"},
	} {
		h, err := ParseHeaders([]byte(tt.text))
		switch {
		case tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "secret")):
			t.Errorf("%s: %v, want %q", tt.name, err, tt.says)
		case tt.says == "" && (err != nil || fmt.Sprint(h) != tt.want):
			t.Errorf("%s: %v, %v, want %s", tt.name, h, err, tt.want)
		}
	}
}

// FuzzHeaders: what is read can be sent.
func FuzzHeaders(f *testing.F) {
	f.Add([]byte("Authorization: Bearer x\n# no\n"))
	f.Add([]byte("a:b:c\r\n\xff: \xff"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		h, err := ParseHeaders(raw)
		if err != nil && h != nil {
			t.Fatal("headers and an error")
		}
		for name, values := range h {
			if http.CanonicalHeaderKey(name) != name || !httpguts.ValidHeaderFieldName(name) {
				t.Errorf("the name %q", name)
			}
			for _, v := range values {
				if v == "" || !httpguts.ValidHeaderFieldValue(v) {
					t.Errorf("the value %q", v)
				}
			}
		}
	})
}
