package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/api"
)

// What is no whole export of a version that is known is refused with what to do.
func TestParseExport(t *testing.T) {
	const whole = `{"apiVersion":"rackboot/v1","kind":"Export","at":"2026-11-20T09:00:00Z","objects":[{"kind":"Rack"}]}`
	for _, c := range []struct {
		name, text string
		ok         bool
	}{
		{"whole", whole, true},
		{"cut short", whole[:len(whole)-3], false},
		{"more after it", whole + "{}", false},
		{"a manifest", `{"apiVersion":"rackboot/v1","kind":"Rack","metadata":{"name":"r1"}}`, false},
		{"of another version", strings.Replace(whole, "rackboot/v1", "rackboot/v9", 1), false},
		{"with a field of a later version", strings.Replace(whole, `"kind":"Export"`, `"kind":"Export","next":1`, 1), false},
		{"too long", `"` + strings.Repeat("x", api.MaxImport) + `"`, false},
		{"too many", `{"apiVersion":"rackboot/v1","kind":"Export","at":"2026-11-20T09:00:00Z","objects":[` + strings.Repeat("1,", api.MaxImportObjects) + `1]}`, false},
		{"nothing", "", false},
	} {
		e, err := api.ParseExport([]byte(c.text))
		if (err == nil) != c.ok || !c.ok && (protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "") {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.ok && len(e.Objects) != 1 {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
}

// FuzzParseExport reads export files of anybody: nothing panics, and what is taken can
// be written and read again.
func FuzzParseExport(f *testing.F) {
	f.Add([]byte(`{"apiVersion":"rackboot/v1","kind":"Export","at":"2026-11-20T09:00:00Z","hub":"https://h","keys":[{"rack":"r1","key":"AAEC"}],"objects":[{"kind":"Rack"},null,7],"leftOut":[{"kind":"Secret","name":"s","reason":"r"}]}`))
	f.Add([]byte(`{"apiVersion":"rackboot/v1","kind":"Export","objects":[{"a":`))
	f.Add([]byte("[]"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := api.ParseExport(raw)
		if err != nil {
			return
		}
		again, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := api.ParseExport(again); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
	})
}
