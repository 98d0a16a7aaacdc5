package sim

import (
	"net/http"
	"strconv"
	"strings"
	"sync"

	"rackboot/bmc/sim/tree"
)

// tags are the ETags of a BMC's resources. Its methods are safe for concurrent use.
type tags struct {
	manner *manner

	mu       sync.Mutex
	versions map[string]uint64 // by folded URI
}

func newTags(m *manner) *tags { return &tags{manner: m, versions: make(map[string]uint64)} }

// touch makes the ETags of a resource and its parts stale.
func (t *tags) touch(uri string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.versions[tree.Fold(uri)]++
}

// number is the version of a resource in quotes.
func (t *tags) number(uri string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return `"` + strconv.FormatUint(t.versions[tree.Fold(uri)], 10) + `"`
}

// tag is the ETag of a resource for a client; empty for none.
func (t *tags) tag(r *request, uri string) (tag string, has bool) {
	n := t.number(uri)
	switch t.manner.now().ETag.Form {
	case "absent":
		return "", false
	case "empty":
		return "", true
	case "strong":
		return n, true
	case "doubled":
		return `"` + n + `"`, true
	case "changing":
		t.touch(uri)
		return "W/" + t.number(uri), true
	case "gzip":
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			return "W/" + n, true
		}
		return n, true
	default:
		return "W/" + n, true
	}
}

// tagged is an answer with the ETag of its resource, in header and body. Without
// a body there is no such resource.
func (t *tags) tagged(r *request, body tree.Object) *answer {
	if body == nil {
		return missing()
	}
	a := reply(http.StatusOK, body)
	delete(body, "@odata.etag")
	if tag, ok := t.tag(r, r.uri); ok {
		a.header["Etag"] = []string{tag}
		body["@odata.etag"] = tag
		if none := r.Header.Get("If-None-Match"); none != "" && none == tag {
			a.status, a.body = http.StatusNotModified, nil
		}
	}
	return a
}

// precondition checks If-Match; nil if the change may go on.
func (t *tags) precondition(r *request) *refusal {
	rules := t.manner.now().ETag
	match, given := "", len(r.Header.Values("If-Match")) > 0
	if given {
		match = r.Header.Get("If-Match")
	}
	failed := &refusal{status: http.StatusPreconditionFailed, id: "Base.1.13.PreconditionFailed", text: "the ETag does not match"}
	switch {
	case !given && (rules.Required || rules.Match == MatchNever):
		return &refusal{status: http.StatusPreconditionRequired, id: "Ami.1.0.PreconditionHeaderMissing", text: "If-Match is missing"}
	case !given:
		return nil
	case !t.matches(r, match):
		return failed
	case t.manner.spend(func(p *Personality) *int { return &p.ETag.Refuse }):
		return failed
	default:
		return nil
	}
}

func (t *tags) matches(r *request, match string) bool {
	rules := t.manner.now().ETag
	n := t.number(r.uri)
	weak := strings.TrimPrefix(match, "W/")
	switch {
	case rules.Match == MatchNever || rules.Match == MatchNone || rules.Form == "empty":
		return false
	case match == "*":
		return rules.Match == MatchLoose
	case rules.Match == MatchStrong || rules.Form == "gzip":
		return match == n
	case rules.Match == MatchExact:
		tag, _ := t.tag(r, r.uri)
		return match == tag
	case rules.Form == "doubled":
		return weak == n || weak == `"`+n+`"`
	default:
		return weak == n
	}
}
