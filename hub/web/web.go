package web

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/access"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// Callers knows who sends a request, and has refusals noted: the API's gate. It is used concurrently.
type Callers interface {
	// Known returns who sends a request. The code is denied for nobody, and unavailable if it cannot be told now.
	Known(r *http.Request) (access.Caller, error)
	// Throttled counts a request of a caller, or with a wrong token if who is empty, and reports whether there were too
	// many.
	Throttled(r *http.Request, who string) bool
	// Denied notes what somebody was refused for who they are.
	Denied(r *http.Request, e protocol.AuditEntry, err error)
	// Recorded does what an entry says, noted before it is begun and when it has ended. The error, unavailable, is of
	// nothing else than the note.
	Recorded(ctx context.Context, e protocol.AuditEntry, do func() (protocol.AuditOutcome, protocol.Code, string)) error
}

// Config is what the page needs; nothing may be left out unless it says so.
type Config struct {
	// API answers what is not the page's.
	API     http.Handler
	Callers Callers
	// Persons returns who logs persons in at a provider now, or nil; nil is nobody ever.
	Persons    func() Persons
	Registerer prometheus.Registerer
}

// Front is the hub's listener for people: the page, sessions, and the API behind them. It is safe for concurrent use.
type Front struct {
	api       http.Handler
	callers   Callers
	persons   func() Persons
	files     files
	sessions  *sessions
	questions *questions
	cross     *http.CrossOriginProtection
	refused   *prometheus.CounterVec
}

// New makes the front; invalid if the Config is incomplete.
func New(cfg Config) (*Front, error) {
	if cfg.API == nil || cfg.Callers == nil || cfg.Registerer == nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "configure the page", "API, Callers and Registerer are required")
	}
	all, err := newFiles()
	if err != nil {
		return nil, err
	}
	asked, err := newQuestions()
	if err != nil {
		return nil, err
	}
	if cfg.Persons == nil {
		cfg.Persons = func() Persons { return nil }
	}
	f := &Front{
		api: cfg.API, callers: cfg.Callers, persons: cfg.Persons, files: all, sessions: newSessions(), questions: asked, cross: http.NewCrossOriginProtection(),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_hub_page_logins_refused_total", Help: "Logins at the page that were refused, by code.",
		}, []string{"code"}),
	}
	for _, code := range []protocol.Code{protocol.CodeDenied, protocol.CodeInvalid, protocol.CodeUnavailable, protocol.CodeUnsupported} {
		f.refused.WithLabelValues(string(code))
	}
	open := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "rackboot_hub_page_sessions", Help: "Sessions of browsers that are open.",
	}, func() float64 { return float64(f.sessions.count()) })
	for _, c := range []prometheus.Collector{f.refused, open} {
		if err := cfg.Registerer.Register(c); err != nil {
			return nil, protocol.Errorf(protocol.CodeInternal, "configure the page", "%w", err)
		}
	}
	return f, nil
}

// ServeHTTP implements http.Handler. What changes something is refused where a browser sends it for another site: a
// browser shows its client certificate, and cookies of old, to whoever has it send a request.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := f.cross.Check(r); err != nil {
		problem(w, http.StatusForbidden, protocol.Errorf(protocol.CodeDenied, "admit", "a browser sent this for another site").
			WithHint("open the page of this hub itself, and do it there"))
		return
	}
	switch {
	case r.URL.Path == "/":
		secure(w.Header())
		http.Redirect(w, r, PathPage, http.StatusSeeOther)
	case r.URL.Path == pathSession || r.URL.Path == pathProvider || r.URL.Path == PathCallback:
		secure(w.Header())
		w.Header().Set("Cache-Control", "no-store")
		map[string]func(http.ResponseWriter, *http.Request){pathSession: f.session, pathProvider: f.provider, PathCallback: f.callback}[r.URL.Path](w, r)
	case strings.HasPrefix(r.URL.Path, PathPage):
		secure(w.Header())
		f.file(w, r)
	case r.Header.Get("Authorization") == "" && len(r.CookiesNamed(cookieName)) > 0:
		f.asSession(w, r)
	default:
		f.api.ServeHTTP(w, r)
	}
}

// file answers with a file of the page.
func (f *Front) file(w http.ResponseWriter, r *http.Request) {
	one := f.files[strings.TrimPrefix(r.URL.Path, PathPage)]
	switch {
	case one == nil:
		problem(w, http.StatusNotFound, protocol.Errorf(protocol.CodeNotFound, "read the page", "the page has no such file").WithHint("open %s", PathPage))
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		problem(w, http.StatusMethodNotAllowed, protocol.Errorf(protocol.CodeInvalid, "read the page", "it is only read").WithHint("use GET"))
	default:
		one.serve(w, r)
	}
}

// HeaderPage is a header that only the page sends: no form, and no other site without being asked, can.
const HeaderPage = "Rackboot-Page"

// asSession has a request with a cookie reach the API as that of the session's token.
func (f *Front) asSession(w http.ResponseWriter, r *http.Request) {
	one, leave := f.sessions.enter(r)
	if one == nil {
		f.over(w)
		return
	}
	defer leave()
	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Header.Get(HeaderPage) == "" {
		problem(w, http.StatusForbidden, protocol.Errorf(protocol.CodeDenied, "admit", "a session changes nothing without the header %s", HeaderPage).
			WithHint("the page sends it; scripts use a token in place of a session"))
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(one.gone, cancel)()
	r = withToken(r.WithContext(ctx), one.token)
	who, err := f.callers.Known(r)
	// Who cannot be asked now has said nothing; the API answers that it cannot be told.
	if protocol.CodeOf(err) == protocol.CodeDenied || err == nil && !same(who, one.who) {
		f.sessions.drop(one)
		f.over(w)
		return
	}
	f.api.ServeHTTP(w, r)
}

// withToken is a request as if it had come with a token. The cookie goes no further.
func withToken(r *http.Request, token string) *http.Request {
	out := r.Clone(r.Context())
	out.Header.Set("Authorization", "Bearer "+token)
	out.Header.Del("Cookie")
	return out
}

// same reports whether a caller is who it was when it logged in, with the same rights.
func same(is, was access.Caller) bool {
	return is.Name == was.Name && is.BreakGlass == was.BreakGlass && is.Issuer == was.Issuer && is.Subject == was.Subject &&
		slices.Equal(is.Roles, was.Roles) && maps.Equal(is.Scope.MatchLabels, was.Scope.MatchLabels)
}

// over says that there is no session any more, and takes the cookie.
func (f *Front) over(w http.ResponseWriter) {
	http.SetCookie(w, cookie(""))
	w.Header().Set("Cache-Control", "no-store")
	problem(w, http.StatusUnauthorized, protocol.Errorf(protocol.CodeDenied, "authenticate", "the session has ended").
		WithHint("log in again; a session ends after %s without a request, after %s, with its token, and when its rights change", Idle, Life))
}

// session begins and ends sessions.
func (f *Front) session(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method != http.MethodPost && r.Method != http.MethodDelete:
		w.Header().Set("Allow", "POST, DELETE")
		problem(w, http.StatusMethodNotAllowed, protocol.Errorf(protocol.CodeInvalid, "log in", "a session is begun and ended, not read").WithHint("use POST or DELETE; %s says who calls", protoapi.PathWhoami))
	case r.Header.Get(HeaderPage) == "":
		problem(w, http.StatusForbidden, protocol.Errorf(protocol.CodeDenied, "log in", "the header %s is missing", HeaderPage).WithHint("the page sends it; scripts use a token in place of a session"))
	case r.Method == http.MethodPost:
		f.login(w, r)
	default:
		if one, leave := f.sessions.enter(r); one != nil {
			leave()
			f.sessions.drop(one)
		}
		http.SetCookie(w, cookie(""))
		w.WriteHeader(http.StatusNoContent)
	}
}

// maxLogin bounds the body of a login in bytes: an ID token has 16 KiB at most.
const maxLogin = 20 << 10

// login is the body of one.
type login struct {
	Token string `json:"token"`
}

// readLogin reads a login. The code is invalid.
func readLogin(body io.Reader) (l login, err error) {
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	err = d.Decode(&l)
	if err == nil && d.More() {
		err = errors.New("there is something behind it")
	}
	l.Token = strings.TrimSpace(l.Token)
	if err == nil && (l.Token == "" || strings.ContainsFunc(l.Token, func(c rune) bool { return c <= ' ' || c > '~' })) {
		err = errors.New("the token is empty, or has characters that no token has")
	}
	if err != nil {
		return login{}, protocol.Errorf(protocol.CodeInvalid, "log in", "the body cannot be read: %w", err).WithHint(`send {"token": "…"}`)
	}
	return l, nil
}

func (f *Front) login(w http.ResponseWriter, r *http.Request) {
	secret, status, err := f.enter(w, r)
	if err != nil {
		f.refused.WithLabelValues(string(protocol.CodeOf(err))).Inc()
		problem(w, status, err)
		return
	}
	http.SetCookie(w, cookie(secret))
	w.WriteHeader(http.StatusNoContent)
}

// enter begins the session that a request asks for; status is that of the error.
func (f *Front) enter(w http.ResponseWriter, r *http.Request) (secret string, status int, err error) {
	l, err := readLogin(http.MaxBytesReader(w, r.Body, maxLogin))
	if err != nil {
		return "", http.StatusBadRequest, err
	}
	return f.admit(r, l.Token, time.Time{})
}

// admit begins a session with a token, which ends with it where ends is not zero; status is that of the error.
func (f *Front) admit(r *http.Request, token string, ends time.Time) (secret string, status int, err error) {
	who, err := f.callers.Known(withToken(r, token))
	if f.callers.Throttled(r, who.Name) {
		return "", http.StatusTooManyRequests, protocol.Errorf(protocol.CodeUnavailable, "log in", "too many logins from this address").WithHint("wait a minute, then try again")
	}
	e := protocol.AuditEntry{Caller: who.Name, From: remoteHost(r), Op: "login"}
	for _, role := range who.Roles {
		e.Roles = append(e.Roles, string(role))
	}
	e.Issuer, e.Subject = who.Issuer, who.Subject
	if err != nil {
		if protocol.CodeOf(err) == protocol.CodeUnavailable {
			return "", http.StatusServiceUnavailable, err
		}
		f.callers.Denied(r, e, err)
		return "", http.StatusUnauthorized, err
	}
	var begun error
	err = f.callers.Recorded(r.Context(), e, func() (protocol.AuditOutcome, protocol.Code, string) {
		if secret, begun = f.sessions.begin(who, token, ends); begun != nil {
			return protocol.AuditRefused, protocol.CodeOf(begun), begun.Error()
		}
		return protocol.AuditAccepted, "", ""
	})
	if err == nil {
		err = begun
	}
	if err != nil {
		return "", http.StatusServiceUnavailable, err
	}
	if old, leave := f.sessions.enter(r); old != nil { // of the same browser, which forgets it now
		leave()
		f.sessions.drop(old)
	}
	return secret, 0, nil
}

func remoteHost(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// problem answers with an error as the API does (RFC 9457).
func problem(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", protoapi.ProblemType)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(protoapi.ProblemOf(err).WithStatus(status)) // the client is gone
}
