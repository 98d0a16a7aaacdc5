package resource

import (
	"slices"
	"testing"
)

// A literal is found in every spelling that text/template has.
func TestCalledTemplates(t *testing.T) {
	for text, want := range map[string][]string{
		`{{.CallTemplate "a" .}}`: {"a"}, "{{ CallTemplate `b` }}": {"b"}, `{{.CallTemplate ("c") .}}`: {"c"}, `{{.CallTemplate .Name .}}`: nil,
		`{{.CallTemplate "a\"b" .}}{{.CallTemplate "c" .}}`: {`a"b`, "c"}, `{{template "d" .}}`: {"d"}, `CallTemplate`: nil, `CallTemplate "open`: nil, "": nil,
	} {
		if got := CalledTemplates(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzCalledTemplates: whatever people write as a template, each name that is found stands in it.
func FuzzCalledTemplates(f *testing.F) {
	f.Add(`{{.CallTemplate "a" .}}`)
	f.Add("{{template `b`}}CallTemplate (\"c\"")
	f.Add("CallTemplate \"\\x41\" \xff")
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range CalledTemplates(text) {
			if len(name) > 3*len(text) { // what is no UTF-8 becomes U+FFFD
				t.Errorf("%q in %q", name, text)
			}
		}
	})
}
