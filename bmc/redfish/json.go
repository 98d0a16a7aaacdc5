package redfish

import "encoding/json"

// fields splits a JSON object; nil if it is none.
func fields(raw []byte) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// textOf is a JSON string's value; empty for null, absence and other types.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// textsOf are the strings of a JSON array; other members are left out.
func textsOf[T ~string](raw json.RawMessage) []T {
	var out []T
	for _, m := range rawsOf(raw) {
		if s := textOf(m); s != "" {
			out = append(out, T(s))
		}
	}
	return out
}

// linkOf is the @odata.id of a reference.
func linkOf(raw json.RawMessage) string { return textOf(fields(raw)["@odata.id"]) }

// rawsOf are the members of a JSON array; nil if it is none.
func rawsOf(raw json.RawMessage) []json.RawMessage {
	var members []json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	return members
}

// countOf is a JSON number's value; 0 for anything else, and for what is negative.
func countOf(raw json.RawMessage) int {
	var n int
	if json.Unmarshal(raw, &n) != nil || n < 0 {
		return 0
	}
	return n
}
