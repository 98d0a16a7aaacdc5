package capture

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"
	"sync"
)

// Bounds of a capture. The largest tree known has 900 resources and 3 MiB.
const (
	MaxResources = 2000
	MaxBytes     = 32 << 20 // of all bodies
	maxPath      = 512
	maxDepth     = 32 // of one body
)

// Recorder keeps the answers of one BMC. It is safe for concurrent use.
type Recorder struct {
	mu     sync.Mutex
	bodies map[string]any // by URI, decoded
	bytes  int
	left   int
	known  *identities
}

// New makes a Recorder. The words, such as the BMC's host name and the account's user, are
// replaced wherever they stand.
func New(words ...string) *Recorder {
	r := &Recorder{bodies: map[string]any{}, known: newIdentities()}
	for _, w := range words {
		r.known.learnWord(w, kindHost)
	}
	return r
}

// See keeps one answer; the last of a URI counts. What is no JSON object of the Redfish tree, or too
// much, is left out and counted.
func (r *Recorder) See(uri string, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	uri = strings.TrimRight(uri, "/")
	v, ok := decode(body)
	_, again := r.bodies[uri]
	if !ok || !keepable(uri) || r.bytes+len(body) > MaxBytes || !again && len(r.bodies) >= MaxResources {
		r.left++
		return
	}
	r.bytes += len(body)
	r.bodies[uri] = v
}

// keepable says whether a URI can be the name of a folder.
func keepable(uri string) bool {
	return (uri == "/redfish/v1" || strings.HasPrefix(uri, "/redfish/v1/")) && len(uri) <= maxPath &&
		path.Clean(uri) == uri && !strings.ContainsFunc(uri, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`\*"<>|`, c) })
}

// decode reads one JSON object, its numbers as they are written.
func decode(body []byte) (map[string]any, bool) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil || v == nil || !shallow(v, maxDepth) {
		return nil, false
	}
	return v, true
}

// shallow says whether a value is nested at most so deep.
func shallow(v any, depth int) bool {
	if depth == 0 {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if !shallow(e, depth-1) {
				return false
			}
		}
	case []any:
		for _, e := range v {
			if !shallow(e, depth-1) {
				return false
			}
		}
	}
	return true
}
