package registry

import (
	"context"
	"net"
	"net/http"
	"strings"

	"rackboot/protocol"
)

// The operations of entries in the audit log.
const (
	opPush   = "push-image"
	opDelete = "delete-image"
	opPull   = "pull-image"
	opLogin  = "authenticate"
)

// Audit is how changes and refusals come into the audit log.
type Audit interface {
	// Recorded does what an entry says, noted before and after. What cannot be noted is not
	// begun: then, and only then, there is an error.
	Recorded(ctx context.Context, e protocol.AuditEntry, do func() (protocol.AuditOutcome, protocol.Code, string)) error
	// Denied notes what somebody was refused for who they are.
	Denied(r *http.Request, e protocol.AuditEntry, err error)
}

// failure is why a request was not done, as the specification has errors.
type failure struct {
	status        int
	code, message string
}

func (f *failure) answer(w http.ResponseWriter) {
	if f.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
	fail(w, f.status, f.code, f.message)
}

// recorded changes an image, whose digest may be known, and has that in the audit log.
func (r *Registry) recorded(req *http.Request, who Caller, op string, to route, digest string, do func() *failure) *failure {
	if r.cfg.Audit == nil {
		return do()
	}
	var failed *failure
	e := entryOf(req, who, op, to)
	e.Detail = digest
	if err := r.cfg.Audit.Recorded(req.Context(), e, func() (protocol.AuditOutcome, protocol.Code, string) {
		if failed = do(); failed == nil {
			return protocol.AuditAccepted, "", digest
		}
		outcome := protocol.AuditRefused
		if failed.status >= http.StatusInternalServerError {
			outcome = protocol.AuditFailed
		}
		return outcome, protocol.CodeFromHTTP(failed.status), strings.TrimPrefix(digest+": "+failed.message, ": ")
	}); err != nil {
		return &failure{http.StatusServiceUnavailable, "UNAVAILABLE", err.Error()}
	}
	return failed
}

// denied has a refusal in the audit log: of what would change something, and of whoever says
// who they are. Tools begin with a request without an account, to see whether they need one.
func (r *Registry) denied(req *http.Request, who Caller, may Right, changes bool) {
	if r.cfg.Audit == nil || may == Throttled || !changes && may == None && req.Header.Get("Authorization") == "" {
		return
	}
	op := opPull
	switch {
	case may == None:
		op = opLogin
	case req.Method == http.MethodDelete:
		op = opDelete
	case changes:
		op = opPush
	}
	to, _ := parse(strings.TrimPrefix(req.URL.Path, "/v2/"))
	r.cfg.Audit.Denied(req, entryOf(req, who, op, to), protocol.Errorf(protocol.CodeDenied, "", "%s", refusal(may).message))
}

// entryOf says who asks for what, without its outcome.
func entryOf(req *http.Request, who Caller, op string, to route) protocol.AuditEntry {
	host, _, err := net.SplitHostPort(req.RemoteAddr)
	if err != nil {
		host = req.RemoteAddr
	}
	return protocol.AuditEntry{Caller: who.Name, Roles: who.Roles, From: host, Op: op, Target: to.target()}
}

// target is what an entry calls an image; empty if the path names none.
func (to route) target() string {
	if !validName(to.repository) {
		return ""
	}
	name := "image/" + to.repository
	if to.kind != kindManifests || to.reference == "" {
		return name
	}
	if protocol.ValidDigest(to.reference) {
		return name + "@" + to.reference
	}
	return name + ":" + to.reference
}
