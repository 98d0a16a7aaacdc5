package tftp

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

const (
	// maxRequest is the longest request (RFC 2347).
	maxRequest = 512
	// modeOctet is the only mode that is served. netascii (RFC 1350 section 1) would
	// have to change line ends, and a client that asked for it and got the bytes as they
	// are would change them: a loader or a kernel is broken either way.
	modeOctet = "octet"
)

// kind is what came to the server's port.
type kind string

const (
	kindRead      kind = "read"
	kindWrite     kind = "write"
	kindMalformed kind = "malformed" // a read request that cannot be read
	kindOther     kind = "other"     // DATA, ACK, ERROR, OACK, and what is no TFTP
)

// request is a read request.
type request struct {
	name string // as it came
	mode string // in lower case
	asked
}

// asked are the options of a request that we know, with values that can be used.
// 0 is not asked: an option whose value is not allowed counts as not asked, which
// RFC 2347 lets a server do, and the transfer goes on without it.
type asked struct {
	blksize    int
	windowsize int
	timeout    int // seconds
	tsize      bool
}

// parseRequest reads a packet. The request is filled only for kindRead.
func parseRequest(b []byte) (kind, request) {
	switch opcode(b) {
	case opWrite:
		return kindWrite, request{}
	case opRead:
	default:
		return kindOther, request{}
	}
	if len(b) > maxRequest {
		return kindMalformed, request{}
	}
	name, rest, ok := cut(b[2:])
	if !ok {
		return kindMalformed, request{}
	}
	mode, rest, ok := cut(rest)
	if !ok {
		return kindMalformed, request{}
	}
	r := request{name: name, mode: lower(mode)}
	seen := make(map[string]bool)
	for {
		option, after, ok := cut(rest)
		if !ok { // the end, or a rest that is no option: padding of some ROMs
			return kindRead, r
		}
		value, after, ok := cut(after)
		if !ok {
			return kindRead, r
		}
		rest = after
		// Names are case-blind, and an option comes once (RFC 2347): the first counts.
		if option = lower(option); !seen[option] {
			seen[option] = true
			r.take(option, value)
		}
	}
}

// take notes an option. What is not known is not answered (RFC 2347).
func (a *asked) take(option, value string) {
	n, ok := decimal(value)
	if !ok {
		return
	}
	switch option {
	case optBlksize:
		if n >= minBlksize { // larger than allowed is brought down like any other
			a.blksize = n
		}
	case optWindowsize:
		a.windowsize = n // 0 is not allowed (RFC 7440 section 3)
	case optTimeout:
		if n <= maxTimeout {
			a.timeout = n
		}
	case optTsize:
		a.tsize = true // with 0; a client's guess changes nothing
	}
}

// cut takes a string off the front that ends with NUL.
func cut(b []byte) (s string, rest []byte, ok bool) {
	before, rest, ok := bytes.Cut(b, []byte{0})
	if !ok {
		return "", nil, false
	}
	return string(before), rest, true
}

// lower is a word in lower case. Words of the protocol are netascii (RFC 1350): another
// one stays as it is, and so never gets longer than it came.
func lower(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return s
	}
	return strings.ToLower(s)
}

// decimal reads a number of digits only, and of a size that an option may have.
func decimal(s string) (n int, ok bool) {
	const most = 9 // digits: fits an int of 32 bits
	if s == "" || len(s) > most {
		return 0, false
	}
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}
