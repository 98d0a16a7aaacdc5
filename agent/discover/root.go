package discover

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// Bounds of what is kept of a service root, in bytes.
const (
	maxVendor  = 32
	maxProduct = 48
	maxVersion = 16
)

var errNotRoot = errors.New("not a Redfish service root")

// root is what is kept of a service root (Redfish schema ServiceRoot). Whoever has an
// address on the segment wrote it.
type root struct {
	vendor, product, uuid, redfish string
}

// decodeRoot reads a service root: an object that says so by its type or its
// RedfishVersion. A property of another type than it should be is left out.
func decodeRoot(body []byte) (root, error) {
	var all map[string]json.RawMessage
	// Some firmware begins JSON with a byte order mark.
	if json.Unmarshal(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), &all) != nil {
		return root{}, errNotRoot
	}
	text := func(name string) (s string) {
		_ = json.Unmarshal(all[name], &s) // s stays empty
		return s
	}
	r := root{
		vendor: printable(text("Vendor"), maxVendor), product: printable(text("Product"), maxProduct),
		uuid: uuid(text("UUID")), redfish: version(text("RedfishVersion")),
	}
	if r.redfish == "" && !strings.HasPrefix(text("@odata.type"), "#ServiceRoot.") {
		return root{}, errNotRoot
	}
	return r, nil
}

// printable keeps what can be shown in a terminal: printable ASCII.
func printable(s string, limit int) string {
	var b strings.Builder
	for _, r := range s {
		if b.Len() == limit {
			break
		}
		if r < ' ' || r > '~' {
			r = '?'
		}
		b.WriteByte(byte(r))
	}
	return strings.TrimSpace(b.String())
}

// version is numbers and dots, or nothing.
func version(s string) string {
	if len(s) > maxVersion || strings.Trim(s, "0123456789.") != "" {
		return ""
	}
	return s
}

// uuid is a UUID in lower case, or nothing.
func uuid(s string) string {
	if len(s) != 36 {
		return ""
	}
	s = strings.ToLower(s)
	for i, c := range []byte(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && !strings.ContainsRune("0123456789abcdef", rune(c)) {
			return ""
		}
	}
	return s
}
