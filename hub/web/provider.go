package web

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"rackboot/protocol"
)

const (
	pathProvider = PathPage + "oidc"
	// PathCallback is where a provider sends browsers back to.
	PathCallback = pathProvider + "/callback"
)

// Persons logs persons in at an OpenID provider. It is used concurrently.
type Persons interface {
	// Browsers returns who does it; ok is false where nobody does.
	Browsers() (issuer string, ok bool)
	// Ask returns the URL at which somebody is to log in. The code is unavailable if the provider is not reached.
	Ask(ctx context.Context, state, nonce, verifier string) (url string, err error)
	// Answer trades the code of an answer for an ID token that is verified. The code is invalid if it does not
	// count, and unavailable if the provider is not reached.
	Answer(ctx context.Context, code, nonce, verifier string) (token string, ends time.Time, err error)
}

// begun is the answer with the URL of the provider.
type begun struct {
	URL string `json:"url"`
}

// providerSaid tells the page with whom persons log in.
type providerSaid struct {
	Issuer string `json:"issuer"`
}

// provider says with whom persons log in, and begins a login there. It is begun by the page itself: no other site
// has a browser be sent to the provider and back.
func (f *Front) provider(w http.ResponseWriter, r *http.Request) {
	const op = "log in"
	by := f.persons()
	issuer, ok := "", by != nil
	if ok {
		issuer, ok = by.Browsers()
	}
	switch {
	case !ok:
		problem(w, http.StatusNotFound, refusalError(refusedOff))
	case r.Method == http.MethodGet:
		answer(w, providerSaid{issuer})
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", "GET, POST")
		problem(w, http.StatusMethodNotAllowed, protocol.Errorf(protocol.CodeInvalid, op, "a login is begun, or the provider read").WithHint("use POST or GET"))
	case r.Header.Get(HeaderPage) == "":
		problem(w, http.StatusForbidden, protocol.Errorf(protocol.CodeDenied, op, "the header %s is missing", HeaderPage).WithHint("the page sends it; rackctl login --oidc needs no page"))
	case f.callers.Throttled(r, ""):
		problem(w, http.StatusTooManyRequests, refusalError(refusedOften))
	default:
		var from struct {
			View string `json:"view"`
		}
		// Who sends anything else comes back to the fleet.
		_ = json.NewDecoder(http.MaxBytesReader(w, r.Body, maxLogin)).Decode(&from)
		q, c, err := f.questions.ask(viewOf(from.View))
		if err != nil {
			problem(w, http.StatusInternalServerError, err)
			return
		}
		to, err := by.Ask(r.Context(), q.State, q.Nonce, q.Verifier)
		if err != nil {
			f.refused.WithLabelValues(string(protocol.CodeUnavailable)).Inc()
			problem(w, http.StatusServiceUnavailable, err)
			return
		}
		http.SetCookie(w, c)
		answer(w, begun{to})
	}
}

func refusalError(why refusal) *protocol.Error {
	s := refusals()[why]
	return protocol.Errorf(s.Code, "log in", "%s", s.Detail).WithHint("%s", s.Hint)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client is gone
}

// callback has a browser in that the provider sends back, and always shows the page next: the view that it comes
// from, or why it is not in.
func (f *Front) callback(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", "GET")
		problem(w, http.StatusMethodNotAllowed, protocol.Errorf(protocol.CodeInvalid, "log in", "a provider sends browsers here, and nobody else anything").WithHint("log in at %s", PathPage))
		return
	}
	view, why := f.comeBack(w, r)
	if why != "" {
		f.refused.WithLabelValues(string(refusals()[why].Code)).Inc()
		view = "/login/" + string(why)
	}
	// The session's cookie is not sent along with this: the browser still comes from another site. The page's own
	// requests have it.
	w.Header().Set("Location", PathPage+"#"+view)
	w.WriteHeader(http.StatusSeeOther)
}

// comeBack begins the session of a browser that the provider sends back, or says why not.
func (f *Front) comeBack(w http.ResponseWriter, r *http.Request) (view string, why refusal) {
	q := r.URL.Query()
	by := f.persons()
	if by == nil {
		return "", refusedOff
	}
	// A link of somebody else's takes nothing from a login that is under way: its cookie stays.
	was, err := f.questions.answered(r, single(q, "state"))
	if err != nil {
		return "", refusedStale
	}
	http.SetCookie(w, askedCookie(""))
	issuer, ok := by.Browsers()
	switch {
	case !ok:
		return "", refusedOff
	case q.Has("iss") && single(q, "iss") != issuer: // RFC 9207: another provider answers
		f.note(r, protocol.Errorf(protocol.CodeDenied, "log in", "the answer is not one of %s (iss)", issuer))
		return "", refusedAnswer
	case single(q, "code") == "":
		f.note(r, protocol.Errorf(protocol.CodeDenied, "log in", "the provider %s says no: %.80q", issuer, q.Get("error")))
		return "", refusedProvider
	}
	token, ends, err := by.Answer(r.Context(), single(q, "code"), was.Nonce, was.Verifier)
	switch protocol.CodeOf(err) {
	case "":
	case protocol.CodeInvalid:
		f.note(r, err)
		return "", refusedAnswer
	case protocol.CodeUnsupported:
		return "", refusedOff
	default:
		return "", refusedAway
	}
	secret, status, err := f.admit(r, token, ends)
	switch {
	case err == nil:
		http.SetCookie(w, cookie(secret))
		return was.View, ""
	case status == http.StatusTooManyRequests:
		return "", refusedOften
	case status == http.StatusUnauthorized:
		return "", refusedPerson
	}
	return "", refusedFull
}

// note has a login that failed at the provider in the audit log.
func (f *Front) note(r *http.Request, err error) {
	f.callers.Denied(r, protocol.AuditEntry{From: remoteHost(r), Op: "login"}, err)
}

// single is the only value of a parameter; one that is there twice counts as none (RFC 6749, section 3.1).
func single(q url.Values, name string) string {
	if v := q[name]; len(v) == 1 {
		return strings.TrimSpace(v[0])
	}
	return ""
}
