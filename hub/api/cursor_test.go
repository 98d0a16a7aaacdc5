package api

import (
	"encoding/base64"
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// A token is read as what it was written from, and by a list of the same kind and selectors only.
func TestCursorBelongsToItsList(t *testing.T) {
	c := cursor{kind: resource.KindServer, selector: "row=7", fields: "status.phase=Held", name: "n1"}
	token := c.token()
	if got, err := (cursor{kind: c.kind, selector: c.selector, fields: c.fields}).at(token); err != nil || got != c {
		t.Fatalf("%+v, %v", got, err)
	}
	if got, err := (cursor{kind: c.kind}).at(""); err != nil || got.name != "" {
		t.Fatalf("%+v, %v", got, err)
	}
	other := "A"
	if token[0] == 'A' {
		other = "B"
	}
	for name, row := range map[string]struct {
		of    cursor
		token string
	}{
		"of another kind":       {cursor{kind: resource.KindClaim, selector: c.selector, fields: c.fields}, token},
		"of another selector":   {cursor{kind: c.kind, selector: "row=8", fields: c.fields}, token},
		"of another field":      {cursor{kind: c.kind, selector: c.selector}, token},
		"cut off":               {c, token[:len(token)-1]},
		"longer":                {c, token + "AAAA"},
		"altered":               {c, other + token[1:]},
		"a name":                {c, "n1"},
		"no base64":             {c, "%%"},
		"with a line feed":      {c, token + "\n"},
		"a checksum of no name": {cursor{kind: c.kind}, base64.RawURLEncoding.EncodeToString(cursor{kind: c.kind}.sum())},
		"very long":             {c, strings.Repeat("A", 10_000)},
	} {
		_, err := row.of.at(row.token)
		if protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" || len(err.Error()) > 300 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whatever is sent as a cursor, it is read as the token of what was read, or refused.
func FuzzCursor(f *testing.F) {
	f.Add("row=7", cursor{kind: resource.KindServer, selector: "row=7", name: "n1"}.token())
	f.Add("", "AAAAAAAAAA")
	f.Add("", "\r\n")
	f.Fuzz(func(t *testing.T, selector, token string) {
		c, err := (cursor{kind: resource.KindServer, selector: selector}).at(token)
		switch {
		case err == nil && c.token() != token:
			t.Errorf("%q was read as %q", token, c.token())
		case err != nil && protocol.CodeOf(err) != protocol.CodeInvalid:
			t.Error(err)
		}
	})
}
