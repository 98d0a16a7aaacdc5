package otlp

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"

	"golang.org/x/net/http/httpguts"
)

// maxHeaders bounds a file of headers, in lines.
const maxHeaders = 64

// ours are headers that are not the file's to set.
var ours = []string{"Host", "Content-Type", "Content-Length", "Content-Encoding", "Transfer-Encoding", "Connection", "User-Agent"}

// ParseHeaders reads headers of requests, one a line: a name, a colon and a value. Empty lines and lines that begin with
// # are left out. Errors name the line and nothing of what stands there.
func ParseHeaders(raw []byte) (http.Header, error) {
	out, n := http.Header{}, 0
	for line := range bytes.Lines(raw) {
		n++
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		text, key := string(bytes.TrimSpace(value)), http.CanonicalHeaderKey(string(bytes.TrimSpace(name)))
		switch {
		case n > maxHeaders:
			return nil, fmt.Errorf("it has more than %d lines", maxHeaders)
		case !ok || !httpguts.ValidHeaderFieldName(key) || text == "" || !httpguts.ValidHeaderFieldValue(text):
			return nil, fmt.Errorf("line %d is not a header, such as Authorization: Bearer TOKEN", n)
		case slices.Contains(ours, key):
			return nil, fmt.Errorf("line %d sets %s, which the agent sets itself", n, key)
		}
		out.Add(key, text)
	}
	return out, nil
}
