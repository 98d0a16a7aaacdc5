package sim

import (
	"net/http"
	"strconv"
	"strings"
)

// touch makes the ETags of a resource and its parts stale. b.mu is held.
func (b *BMC) touch(uri string) { b.versions[fold(uri)]++ }

// tag is the ETag of a resource for a client; empty for none.
func (b *BMC) tag(r *request, uri string) (tag string, has bool) {
	n := `"` + strconv.FormatUint(b.versions[fold(uri)], 10) + `"`
	switch b.personality.ETag.Form {
	case "absent":
		return "", false
	case "empty":
		return "", true
	case "strong":
		return n, true
	case "doubled":
		return `"` + n + `"`, true
	case "changing":
		b.touch(uri)
		return `W/"` + strconv.FormatUint(b.versions[fold(uri)], 10) + `"`, true
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
func (b *BMC) tagged(r *request, body object) *answer {
	if body == nil {
		return missing()
	}
	a := reply(http.StatusOK, body)
	delete(body, "@odata.etag")
	if tag, ok := b.tag(r, r.uri); ok {
		a.header["Etag"] = []string{tag}
		body["@odata.etag"] = tag
		if none := r.Header.Get("If-None-Match"); none != "" && none == tag {
			a.status, a.body = http.StatusNotModified, nil
		}
	}
	return a
}

// precondition checks If-Match; nil if the change may go on.
func (b *BMC) precondition(r *request) *refusal {
	rules := &b.personality.ETag
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
	case !b.matches(r, match):
		return failed
	case rules.Refuse > 0:
		rules.Refuse--
		return failed
	default:
		return nil
	}
}

func (b *BMC) matches(r *request, match string) bool {
	rules := b.personality.ETag
	n := `"` + strconv.FormatUint(b.versions[r.uri], 10) + `"`
	weak := strings.TrimPrefix(match, "W/")
	switch {
	case rules.Match == MatchNever || rules.Match == MatchNone || rules.Form == "empty":
		return false
	case match == "*":
		return rules.Match == MatchLoose
	case rules.Match == MatchStrong || rules.Form == "gzip":
		return match == n
	case rules.Match == MatchExact:
		tag, _ := b.tag(r, r.uri)
		return match == tag
	case rules.Form == "doubled":
		return weak == n || weak == `"`+n+`"`
	default:
		return weak == n
	}
}
