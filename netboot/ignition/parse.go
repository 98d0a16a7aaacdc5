package ignition

import (
	"bytes"
	"encoding/json"
	"io"
	"unicode/utf8"
)

// parseTree reads one JSON value. Unlike encoding/json it refuses what a reader might take
// either way: bytes that are no UTF-8, and a member that is there twice.
func parseTree(raw []byte) (*tree, *Refusal) {
	notJSON := refuse(NotIgnition, "$", "is not JSON")
	if !utf8.Valid(raw) {
		return nil, refuse(NotIgnition, "$", "is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	t, r := readTree(d, "$", 0)
	if r != nil {
		return nil, r
	}
	if _, err := d.Token(); err != io.EOF { //nolint:errorlint // Token does not wrap it
		return nil, notJSON
	}
	return t, nil
}

func readTree(d *json.Decoder, at string, depth int) (*tree, *Refusal) {
	tok, err := d.Token()
	if err != nil {
		return nil, refuse(NotIgnition, "$", "is not JSON")
	}
	if depth > maxDepth {
		return nil, refuse(Invalid, specified(at), "lies deeper than anything that the specification knows")
	}
	switch v := tok.(type) {
	case string:
		return str(v), nil
	case json.Number:
		return &tree{kind: number, text: v.String()}, nil
	case bool:
		if v {
			return &tree{kind: truth, text: "true"}, nil
		}
		return &tree{kind: truth, text: "false"}, nil
	case json.Delim:
		return readMembers(d, kind(v), at, depth)
	}
	return &tree{kind: null, text: "null"}, nil
}

func readMembers(d *json.Decoder, k kind, at string, depth int) (*tree, *Refusal) {
	t := &tree{kind: k}
	seen := map[string]bool{}
	for d.More() {
		inner := at + "[" + itoa(len(t.kids)) + "]"
		if k == object {
			tok, err := d.Token()
			key, ok := tok.(string)
			if err != nil || !ok {
				return nil, refuse(NotIgnition, "$", "is not JSON")
			}
			if inner = at + "." + key; seen[key] {
				return nil, refuse(Invalid, specified(inner), "is there twice")
			}
			seen[key] = true
			t.keys = append(t.keys, key)
		}
		kid, r := readTree(d, inner, depth+1)
		if r != nil {
			return nil, r
		}
		t.kids = append(t.kids, kid)
	}
	if _, err := d.Token(); err != nil {
		return nil, refuse(NotIgnition, "$", "is not JSON")
	}
	return t, nil
}
