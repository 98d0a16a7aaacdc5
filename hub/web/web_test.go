package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/hub/access"
	"rackboot/protocol"
)

// gate knows callers by their tokens.
type gate struct {
	mu      sync.Mutex
	by      map[string]access.Caller
	away    bool
	slow    bool // too many requests
	entries []protocol.AuditEntry
	denied  int
}

func (g *gate) Known(r *http.Request) (access.Caller, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.away {
		return access.Caller{}, protocol.Errorf(protocol.CodeUnavailable, "authenticate", "the provider is away")
	}
	if who, ok := g.by[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]; ok {
		return who, nil
	}
	return access.Caller{}, protocol.Errorf(protocol.CodeDenied, "authenticate", "the token is wrong")
}
func (g *gate) Throttled(*http.Request, string) bool { return g.slow }
func (g *gate) Denied(*http.Request, protocol.AuditEntry, error) {
	g.denied++
}

func (g *gate) Recorded(_ context.Context, e protocol.AuditEntry, do func() (protocol.AuditOutcome, protocol.Code, string)) error {
	e.Outcome, e.Code, e.Detail = do()
	g.entries = append(g.entries, e)
	return nil
}

func (g *gate) set(token string, who *access.Caller) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if who == nil {
		delete(g.by, token)
		return
	}
	g.by[token] = *who
}

func ann() *access.Caller { return &access.Caller{Name: "ann", Roles: []access.Role{access.Operator}} }

const annToken = "token-of-ann"

// newFront is a front before an API that answers with the token it was asked with.
func newFront(t testing.TB, api http.HandlerFunc) (*Front, *gate) {
	t.Helper()
	g := &gate{by: map[string]access.Caller{annToken: *ann()}}
	if api == nil {
		api = func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Asked-With", r.Header.Get("Authorization"))
			w.Header().Set("Asked-Cookie", r.Header.Get("Cookie"))
		}
	}
	f, err := New(Config{API: api, Callers: g, Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	return f, g
}

// send sends a request as the page does, with headers in pairs; "-Name" leaves one out.
func send(t *testing.T, f http.Handler, method, path, body string, headers ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "https://hub.example"+path, strings.NewReader(body))
	r.Header.Set(HeaderPage, "1")
	for i := 0; i < len(headers); i += 2 {
		if name, ok := strings.CutPrefix(headers[i], "-"); ok {
			r.Header.Del(name)
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	return record(f, r)
}

func record(f http.Handler, r *http.Request) *http.Response {
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w.Result()
}

// enter logs in, and returns the cookie as a browser sends it back.
func enter(t *testing.T, f http.Handler, token string) string {
	t.Helper()
	resp := send(t, f, http.MethodPost, pathSession, `{"token":"`+token+`"}`)
	if resp.StatusCode != http.StatusNoContent || len(resp.Cookies()) != 1 {
		t.Fatalf("login: %d, cookies %v", resp.StatusCode, resp.Cookies())
	}
	return resp.Cookies()[0].Name + "=" + resp.Cookies()[0].Value
}

func TestNewNeedsAll(t *testing.T) {
	if _, err := New(Config{}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("it was made of nothing: %v", err)
	}
}

// A session is asked for with the token once, and the API hears the token, not the cookie.
func TestSession(t *testing.T) {
	f, g := newFront(t, nil)
	resp := send(t, f, http.MethodPost, pathSession, `{"token":"`+annToken+`"}`)
	raw := resp.Header.Get("Set-Cookie")
	for _, want := range []string{"__Host-rackboot=", "Path=/", "HttpOnly", "Secure", "SameSite=Strict"} {
		if !strings.Contains(raw, want) {
			t.Errorf("the cookie lacks %s: %s", want, raw)
		}
	}
	if strings.Contains(raw, annToken) || strings.Contains(raw, "Domain") || resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("the cookie says too much: %s", raw)
	}
	if len(g.entries) != 1 || g.entries[0].Caller != "ann" || g.entries[0].Op != "login" || g.entries[0].Outcome != protocol.AuditAccepted {
		t.Errorf("audited is %+v", g.entries)
	}
	c := enter(t, f, annToken)
	got := send(t, f, http.MethodGet, "/v1/servers", "", "Cookie", c)
	if got.Header.Get("Asked-With") != "Bearer "+annToken || got.Header.Get("Asked-Cookie") != "" {
		t.Errorf("the API was asked with %q and cookie %q", got.Header.Get("Asked-With"), got.Header.Get("Asked-Cookie"))
	}
	if n := f.sessions.count(); n != 2 {
		t.Errorf("%d sessions", n)
	}
	if got := send(t, f, http.MethodDelete, pathSession, "", "Cookie", c); got.StatusCode != http.StatusNoContent {
		t.Errorf("logout: %d", got.StatusCode)
	}
	if got := send(t, f, http.MethodGet, "/v1/servers", "", "Cookie", c); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("after the logout: %d", got.StatusCode)
	}
	// A token of its own counts, whatever cookie is beside it.
	if got := send(t, f, http.MethodGet, "/v1/servers", "", "Cookie", c, "Authorization", "Bearer x"); got.Header.Get("Asked-With") != "Bearer x" {
		t.Errorf("with both the API was asked with %q", got.Header.Get("Asked-With"))
	}
}

func TestLoginRefused(t *testing.T) {
	for name, row := range map[string]struct {
		body    string
		headers []string
		away    bool
		slow    bool
		status  int
		code    protocol.Code
	}{
		"a wrong token":        {body: `{"token":"guess"}`, status: http.StatusUnauthorized, code: protocol.CodeDenied},
		"no token":             {body: `{}`, status: http.StatusBadRequest, code: protocol.CodeInvalid},
		"no body":              {status: http.StatusBadRequest, code: protocol.CodeInvalid},
		"another field":        {body: `{"token":"t","x":1}`, status: http.StatusBadRequest, code: protocol.CodeInvalid},
		"two bodies":           {body: `{"token":"t"}{}`, status: http.StatusBadRequest, code: protocol.CodeInvalid},
		"a header in a token":  {body: `{"token":"a\r\nX: y"}`, status: http.StatusBadRequest, code: protocol.CodeInvalid},
		"a long body":          {body: `{"token":"` + strings.Repeat("x", maxLogin) + `"}`, status: http.StatusBadRequest, code: protocol.CodeInvalid},
		"a provider away":      {body: `{"token":"t"}`, away: true, status: http.StatusServiceUnavailable, code: protocol.CodeUnavailable},
		"too many":             {body: `{"token":"guess"}`, slow: true, status: http.StatusTooManyRequests, code: protocol.CodeUnavailable},
		"not by the page":      {body: `{"token":"` + annToken + `"}`, headers: []string{"-" + HeaderPage, ""}, status: http.StatusForbidden},
		"of another site":      {body: `{"token":"` + annToken + `"}`, headers: []string{"Sec-Fetch-Site", "cross-site"}, status: http.StatusForbidden},
		"of another host":      {body: `{"token":"` + annToken + `"}`, headers: []string{"Origin", "https://evil.example"}, status: http.StatusForbidden},
		"of a sibling of ours": {body: `{"token":"` + annToken + `"}`, headers: []string{"Sec-Fetch-Site", "same-site"}, status: http.StatusForbidden},
	} {
		f, g := newFront(t, nil)
		g.away, g.slow = row.away, row.slow
		resp := send(t, f, http.MethodPost, pathSession, row.body, row.headers...)
		if resp.StatusCode != row.status || resp.Header.Get("Set-Cookie") != "" || resp.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d, cookie %q", name, resp.StatusCode, resp.Header.Get("Set-Cookie"))
		}
		if row.code != "" && testutil.ToFloat64(f.refused.WithLabelValues(string(row.code))) != 1 {
			t.Errorf("%s: not counted as %s", name, row.code)
		}
	}
}

// Whoever may do less, or other, than at the login has no session any more; who cannot be asked now keeps it.
func TestSessionEndsWithItsRights(t *testing.T) {
	for name, row := range map[string]struct {
		now  *access.Caller
		away bool
		ends bool
	}{
		"the same":            {now: ann()},
		"the token is gone":   {ends: true},
		"a role less":         {now: &access.Caller{Name: "ann", Roles: []access.Role{access.Viewer}}, ends: true},
		"a role more":         {now: &access.Caller{Name: "ann", Roles: []access.Role{access.Operator, access.Fencer}}, ends: true},
		"a scope":             {now: &access.Caller{Name: "ann", Roles: ann().Roles, Scope: access.Scope{MatchLabels: access.Labels{"row": "7"}}}, ends: true},
		"glass to break":      {now: &access.Caller{Name: "ann", Roles: ann().Roles, BreakGlass: true}, ends: true},
		"somebody else's":     {now: &access.Caller{Name: "bob", Roles: ann().Roles}, ends: true},
		"the provider's away": {now: ann(), away: true},
	} {
		f, g := newFront(t, nil)
		c := enter(t, f, annToken)
		g.set(annToken, row.now)
		g.away = row.away
		resp := send(t, f, http.MethodGet, "/v1/servers", "", "Cookie", c)
		if ended := resp.StatusCode == http.StatusUnauthorized; ended != row.ends || ended != (f.sessions.count() == 0) {
			t.Errorf("%s: %d, %d sessions", name, resp.StatusCode, f.sessions.count())
		}
		g.away = false
		g.set(annToken, ann()) // what has ended stays so
		if resp := send(t, f, http.MethodGet, "/v1/servers", "", "Cookie", c); (resp.StatusCode == http.StatusUnauthorized) != row.ends {
			t.Errorf("%s, and back: %d", name, resp.StatusCode)
		}
	}
}

// No other site has a browser change something, by a session or by a certificate.
func TestForgery(t *testing.T) {
	for name, row := range map[string]struct {
		method  string
		cookie  bool
		headers []string
		status  int
	}{
		"the page":                             {http.MethodPost, true, []string{"Sec-Fetch-Site", "same-origin"}, 200},
		"an old browser":                       {http.MethodPost, true, []string{"Origin", "https://hub.example"}, 200},
		"without the header":                   {http.MethodPost, true, []string{"-" + HeaderPage, ""}, 403},
		"without the header, a deletion":       {http.MethodDelete, true, []string{"-" + HeaderPage, ""}, 403},
		"without the header, a word we do not": {"FROB", true, []string{"-" + HeaderPage, ""}, 403},
		"another site":                         {http.MethodPost, true, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"another origin":                       {http.MethodPost, true, []string{"Origin", "https://evil.example"}, 403},
		"null":                                 {http.MethodPost, true, []string{"Origin", "null"}, 403},
		"a certificate for another site":       {http.MethodPost, false, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"rackctl":                              {http.MethodPost, false, []string{"-" + HeaderPage, ""}, 200},
		"a read":                               {http.MethodGet, true, []string{"-" + HeaderPage, ""}, 200},
	} {
		f, _ := newFront(t, nil)
		headers := row.headers
		if row.cookie {
			headers = append(headers, "Cookie", enter(t, f, annToken))
		}
		if resp := send(t, f, row.method, "/v1/apply", "", headers...); resp.StatusCode != row.status {
			t.Errorf("%s: %d, want %d", name, resp.StatusCode, row.status)
		}
	}
}

// A cookie that is nobody's says so and is taken back; two of one name are nobody's.
func TestStrangeCookies(t *testing.T) {
	f, _ := newFront(t, nil)
	c := enter(t, f, annToken)
	for name, cookie := range map[string]string{
		"unknown": cookieName + "=guess", "empty": cookieName + "=", "long": cookieName + "=" + strings.Repeat("x", 5000), "two": c + "; " + cookieName + "=other",
	} {
		resp := send(t, f, http.MethodGet, "/v1/servers", "", "Cookie", cookie)
		if resp.StatusCode != http.StatusUnauthorized || !strings.Contains(resp.Header.Get("Set-Cookie"), "Max-Age=0") {
			t.Errorf("%s: %d, %q", name, resp.StatusCode, resp.Header.Get("Set-Cookie"))
		}
	}
	if resp := send(t, f, http.MethodGet, "/v1/servers", "", "Cookie", c); resp.StatusCode != http.StatusOK {
		t.Errorf("the right one: %d", resp.StatusCode)
	}
}

// A session ends an hour after the last request, and never later than twelve hours after it began; what it has open ends
// with it.
func TestSessionAges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan time.Time, 1)
		f, _ := newFront(t, func(_ http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/v1/watch/") {
				<-r.Context().Done()
				ended <- time.Now()
			}
		})
		began := time.Now()
		idle, open := enter(t, f, annToken), enter(t, f, annToken)
		go send(t, f, http.MethodGet, "/v1/watch/servers", "", "Cookie", open)
		time.Sleep(Idle - time.Second)
		if resp := send(t, f, http.MethodGet, "/v1/servers", "", "Cookie", idle); resp.StatusCode != http.StatusOK {
			t.Errorf("before it is idle: %d", resp.StatusCode)
		}
		time.Sleep(Idle - time.Second)
		if f.sessions.count() != 2 {
			t.Errorf("%d sessions before either is idle", f.sessions.count())
		}
		time.Sleep(2 * time.Second)
		if resp := send(t, f, http.MethodGet, "/v1/servers", "", "Cookie", idle); resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("an idle one: %d", resp.StatusCode)
		}
		if f.sessions.count() != 1 {
			t.Errorf("%d sessions while one watches", f.sessions.count())
		}
		if at := <-ended; at.Sub(began) != Life {
			t.Errorf("its watch ended after %s", at.Sub(began))
		}
		synctest.Wait()
		if f.sessions.count() != 0 {
			t.Errorf("%d sessions after their life", f.sessions.count())
		}
	})
}

// One caller has so many sessions, and the hub so many; the oldest of one caller makes room for the next.
func TestSessionBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, g := newFront(t, nil)
		first := enter(t, f, annToken)
		for range MaxOwn {
			time.Sleep(time.Second)
			enter(t, f, annToken)
		}
		if n := f.sessions.count(); n != MaxOwn {
			t.Errorf("ann has %d sessions", n)
		}
		if resp := send(t, f, http.MethodGet, "/v1/servers", "", "Cookie", first); resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("the oldest: %d", resp.StatusCode)
		}
		for i := f.sessions.count(); i < MaxSessions; i++ {
			name := "p" + strings.Repeat("x", i/MaxOwn)
			g.set(name, &access.Caller{Name: name})
			enter(t, f, name)
		}
		g.set("late", &access.Caller{Name: "late"})
		if resp := send(t, f, http.MethodPost, pathSession, `{"token":"late"}`); resp.StatusCode != http.StatusServiceUnavailable || f.sessions.count() != MaxSessions {
			t.Errorf("one too many: %d, %d sessions", resp.StatusCode, f.sessions.count())
		}
		enter(t, f, annToken) // takes the place of one of her own
		for _, s := range f.sessions.all {
			defer s.end()
			s.idle.Stop()
		}
	})
}

// FuzzLogin: no body makes a session of a token that has what no header may have.
func FuzzLogin(f *testing.F) {
	for _, s := range []string{`{"token":"abc"}`, `{}`, `{"token":" a "}`, `{"token":"a\nb"}`, `[]`, "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		l, err := readLogin(strings.NewReader(body))
		if err != nil {
			if protocol.CodeOf(err) != protocol.CodeInvalid || l.Token != "" {
				t.Fatalf("%q: %v, %q", body, err, l.Token)
			}
			return
		}
		if l.Token == "" || strings.ContainsFunc(l.Token, func(c rune) bool { return c <= ' ' || c > '~' }) {
			t.Fatalf("%q gave the token %q", body, l.Token)
		}
	})
}
