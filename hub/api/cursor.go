package api

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// cursor is where a list goes on: behind a name. It says all of that itself, so that the hub keeps
// nothing, and one from before a restart is as good as any. It belongs to its kind and selectors.
type cursor struct {
	kind             resource.Kind
	selector, fields string
	name             string
}

// cursorSum is how many bytes of the checksum are in a token. They tell a token of something else, or one
// that was cut off; nothing is secret, and nobody sees more by a token that he made himself.
const cursorSum = 6

// token is the cursor as clients hand it back; the empty name, before all, is the empty token.
func (c cursor) token() string {
	if c.name == "" {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(append(c.sum(), c.name...))
}

func (c cursor) sum() []byte {
	sum := sha256.Sum256([]byte(strings.Join([]string{string(c.kind), c.selector, c.fields, c.name}, "\x00")))
	return sum[:cursorSum]
}

// at reads a token of the same kind and selectors. The code is invalid.
func (c cursor) at(token string) (cursor, error) {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if token == "" {
		return c, nil
	}
	if err == nil && len(raw) > cursorSum {
		c.name = string(raw[cursorSum:])
	}
	if c.name == "" || c.token() != token {
		return c, protocol.Errorf(protocol.CodeInvalid, "list "+c.kind.Plural(), "after=%q is no cursor of this list", clip(token)).
			WithHint("give next of the page before as it is, with the same kind, selector and field; or begin again without after")
	}
	return c, nil
}

// clip shortens what somebody sent to what an error can say.
func clip(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}
