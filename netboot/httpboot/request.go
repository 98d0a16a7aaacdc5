package httpboot

import (
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
)

// maxFields is more header fields than boot clients send.
const maxFields = 32

// request reads requests, one after the other: what it returns is overwritten by the next.
type request struct {
	http   http.Request
	url    url.URL
	header http.Header
	values [maxFields]string
}

// parse reads a request's header, up to its empty line. It is strict: of anything but
//
//	GET or HEAD, a path, HTTP/1.1
//	Host, once, and other fields in ASCII without a line break in them
//	Connection: close or keep-alive
//
// it returns false, and net/http has to say what is wrong with it, if anything is.
func (q *request) parse(head []byte, remote string) (*http.Request, bool) {
	line, rest, ok := strings.Cut(string(head), "\r\n")
	if !ok {
		return nil, false
	}
	method, target, ok := strings.Cut(line, " ")
	if !ok || method != http.MethodGet && method != http.MethodHead {
		return nil, false
	}
	target, ok = strings.CutSuffix(target, " HTTP/1.1")
	if !ok || !isTarget(target) {
		return nil, false
	}
	at := &q.url
	if plainTarget(target) {
		q.url = url.URL{Path: target}
	} else if at, _ = url.ParseRequestURI(target); at == nil {
		return nil, false
	}
	clear(q.header)
	q.http = http.Request{
		Method: method, URL: at, RequestURI: target, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: q.header, Body: http.NoBody, RemoteAddr: remote,
	}
	for n := 0; ; n++ {
		if line, rest, ok = strings.Cut(rest, "\r\n"); !ok {
			return nil, false
		}
		if line == "" {
			return &q.http, q.http.Host != ""
		}
		if n == maxFields || !q.field(n, line) {
			return nil, false
		}
	}
}

// field takes one field of the header.
func (q *request) field(n int, line string) bool {
	name, value, ok := strings.Cut(line, ":")
	value = strings.Trim(value, " \t")
	if !ok || !isToken(name) || !isText(value) {
		return false
	}
	switch name = textproto.CanonicalMIMEHeaderKey(name); name {
	case "Host":
		if q.http.Host != "" || !isHost(value) {
			return false
		}
		q.http.Host = value
		return true
	case "Connection":
		if strings.EqualFold(value, "close") {
			q.http.Close = true
		} else if !strings.EqualFold(value, "keep-alive") {
			return false
		}
	case "Content-Length", "Transfer-Encoding", "Trailer", "Te", "Expect", "Upgrade":
		return false
	}
	if had, twice := q.header[name]; twice {
		q.header[name] = append(had, value)
		return true
	}
	q.values[n] = value
	q.header[name] = q.values[n : n+1 : n+1]
	return true
}

// isTarget says whether a request is for a path, of characters that can be in one.
func isTarget(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return strings.HasPrefix(s, "/")
}

// plainTarget says whether a target is a path as it is written, without an escape or a
// query (RFC 3986 section 3.3).
func plainTarget(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isAlphanumeric(c) && c != '/' && c != '.' && c != '-' && c != '_' && c != '~' && c != '+' && c != ':' {
			return false
		}
	}
	return true
}

func isAlphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// isToken is that of RFC 9110 section 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isAlphanumeric(c) && c != '-' && strings.IndexByte("!#$%&'*+.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

// isText says whether a field's value has nothing but printable ASCII and tabs.
func isText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

// isHost says whether a Host has only what names and addresses have.
func isHost(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isAlphanumeric(c) && strings.IndexByte(".-_:[]", c) < 0 {
			return false
		}
	}
	return s != ""
}
