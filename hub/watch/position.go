package watch

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"

	"rackboot/protocol/resource"
)

// position is how far a watch has come: so many changes of one run of the hub. It belongs to what was
// asked, and by whom.
type position struct {
	run string
	seq uint64
}

// positionSum is how many bytes of the checksum are in a token. They tell a token of another watch, or one that was cut
// off; nothing is secret, and nobody sees more by a token that he made himself.
const positionSum = 6

// token is the position as clients hand it back. of is what was asked.
func (p position) token(of string) string {
	text := p.run + "." + strconv.FormatUint(p.seq, 36)
	return base64.RawURLEncoding.EncodeToString(append(sumOf(of, text), text...))
}

func sumOf(of, text string) []byte {
	sum := sha256.Sum256([]byte(of + "\x00" + text))
	return sum[:positionSum]
}

// readPosition reads a token of the same question. One that is not is as good as none: everything is
// told again.
func readPosition(token, of string) (p position, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) <= positionSum {
		return p, false
	}
	run, seq, _ := strings.Cut(string(raw[positionSum:]), ".")
	p.run = run
	if p.seq, err = strconv.ParseUint(seq, 36, 64); err != nil {
		return p, false
	}
	return p, p.token(of) == token
}

// question is what a position belongs to.
func question(kind resource.Kind, selectors ...string) string {
	return strings.Join(append([]string{string(kind)}, selectors...), "\x00")
}
