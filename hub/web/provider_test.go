package web

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/protocol"
)

// idp is a provider that answers by the rules: a code counts once, with its verifier.
type idp struct {
	mu     sync.Mutex
	asked  map[string]string // verifier by code
	nonces map[string]string // nonce by code
	away   bool
	off    bool
	token  string
	ends   time.Time
}

func (p *idp) Browsers() (string, bool) { return "https://login.example", !p.off }

func (p *idp) Ask(_ context.Context, state, nonce, verifier string) (string, error) {
	if p.away {
		return "", protocol.Errorf(protocol.CodeUnavailable, "log in", "the provider is away").WithHint("later")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	code := "code-" + state
	if p.asked == nil {
		p.asked, p.nonces = map[string]string{}, map[string]string{}
	}
	p.asked[code], p.nonces[code] = verifier, nonce
	return "https://login.example/authorize?state=" + state, nil
}

func (p *idp) Answer(_ context.Context, code, nonce, verifier string) (string, time.Time, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.away {
		return "", time.Time{}, protocol.Errorf(protocol.CodeUnavailable, "log in", "the provider is away")
	}
	want, ok := p.asked[code]
	delete(p.asked, code)
	if !ok || want != verifier || p.nonces[code] != nonce {
		return "", time.Time{}, protocol.Errorf(protocol.CodeInvalid, "log in", "the code does not count")
	}
	return p.token, p.ends, nil
}

func newFrontAt(t testing.TB) (*Front, *gate, *idp) {
	t.Helper()
	f, g := newFront(t, nil)
	p := &idp{token: annToken, ends: time.Now().Add(time.Hour)}
	f.persons = func() Persons { return p }
	return f, g, p
}

// sets is the cookie of a name that an answer sets, as a browser sends it back; empty if none.
func sets(resp *http.Response, name string) string {
	for _, c := range resp.Cookies() {
		if c.Name == name && c.MaxAge >= 0 {
			return c.Name + "=" + c.Value
		}
	}
	return ""
}

// begins has the page begin a login, and returns what the browser is sent with.
func begins(t *testing.T, f *Front, view string) (state, asked string) {
	t.Helper()
	body, err := json.Marshal(map[string]string{"view": view})
	if err != nil {
		t.Fatal(err)
	}
	resp := send(t, f, http.MethodPost, pathProvider, string(body))
	var to begun
	if err := json.NewDecoder(resp.Body).Decode(&to); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("begin: %d, %v", resp.StatusCode, err)
	}
	u, err := url.Parse(to.URL)
	if err != nil {
		t.Fatal(err)
	}
	asked = sets(resp, askedName)
	if asked == "" || u.Query().Get("state") == "" || strings.Contains(asked, u.Query().Get("state")) {
		t.Fatalf("sent to %s with %q", to.URL, asked)
	}
	return u.Query().Get("state"), asked
}

// returns has a browser come back, as from another site.
func returns(t *testing.T, f *Front, query, cookie string) *http.Response {
	t.Helper()
	return send(t, f, http.MethodGet, PathCallback+"?"+query, "", "-"+HeaderPage, "", "Cookie", cookie, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate")
}

// Somebody logs in with the provider, comes back to the view from before, and has a session as with a token.
func TestProvider(t *testing.T) {
	f, g, _ := newFrontAt(t)
	var with providerSaid
	resp := send(t, f, http.MethodGet, pathProvider, "")
	if err := json.NewDecoder(resp.Body).Decode(&with); err != nil || with.Issuer != "https://login.example" {
		t.Errorf("with %+v, %v", with, err)
	}
	state, asked := begins(t, f, "/server/n1?x=1")
	resp = returns(t, f, "state="+state+"&code=code-"+state, asked)
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/page/#/server/n1?x=1" || resp.Header.Get("Cache-Control") != "no-store" || resp.Header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("%d, %v", resp.StatusCode, resp.Header)
	}
	gone, session := false, ""
	for _, raw := range resp.Header.Values("Set-Cookie") {
		gone = gone || strings.HasPrefix(raw, askedName+"=;") && strings.Contains(raw, "Max-Age=0")
		if strings.HasPrefix(raw, cookieName+"=") {
			session = raw
		}
	}
	if !gone || !strings.Contains(session, "SameSite=Strict") || !strings.Contains(session, "HttpOnly") || !strings.Contains(session, "Secure") {
		t.Errorf("cookies %q", resp.Header.Values("Set-Cookie"))
	}
	got := send(t, f, http.MethodGet, "/v1/servers", "", "Cookie", sets(resp, cookieName))
	if got.Header.Get("Asked-With") != "Bearer "+annToken {
		t.Errorf("the API was asked with %q", got.Header.Get("Asked-With"))
	}
	if len(g.entries) != 1 || g.entries[0].Caller != "ann" || g.entries[0].Op != "login" || g.entries[0].Outcome != protocol.AuditAccepted {
		t.Errorf("audited is %+v", g.entries)
	}
}

// The cookie of a question is short, bound to the host, and no script's.
func TestAskedCookie(t *testing.T) {
	f, _, _ := newFrontAt(t)
	raw := send(t, f, http.MethodPost, pathProvider, `{}`).Header.Get("Set-Cookie")
	for _, want := range []string{"__Host-rackboot-login=", "Path=/", "Max-Age=600", "HttpOnly", "Secure", "SameSite=Lax"} {
		if !strings.Contains(raw, want) {
			t.Errorf("it lacks %s: %s", want, raw)
		}
	}
	if strings.Contains(raw, "Domain") || len(raw) > maxAsked {
		t.Errorf("%s", raw)
	}
}

// What is no answer to this browser's own question begins no session, and says why by a word of ours.
func TestCallbackRefused(t *testing.T) {
	const code = "state=STATE&code=code-STATE"
	for name, row := range map[string]struct {
		query  string
		cookie func(own, other string) string
		change func(f *Front, g *gate, p *idp)
		want   refusal
		denied int  // entries of the audit log
		spent  bool // the question counts no more afterwards
	}{
		"without a cookie":           {query: code, cookie: func(string, string) string { return "" }, want: refusedStale},
		"with somebody else's":       {query: code, cookie: func(_, other string) string { return other }, want: refusedStale},
		"with two":                   {query: code, cookie: func(own, other string) string { return own + "; " + other }, want: refusedStale},
		"with a changed one":         {query: code, cookie: func(own, _ string) string { return own[:len(own)-6] + "AAAAAA" }, want: refusedStale},
		"with a session's":           {query: code, cookie: func(string, string) string { return askedName + "=" + strings.Repeat("x", 52) }, want: refusedStale},
		"with a long one":            {query: code, cookie: func(own, _ string) string { return own + strings.Repeat("A", maxAsked) }, want: refusedStale},
		"without a state":            {query: "code=code-STATE", want: refusedStale},
		"with an empty state":        {query: "state=&code=code-STATE", want: refusedStale},
		"with two states":            {query: code + "&state=STATE", want: refusedStale},
		"with another state":         {query: "state=OTHER&code=code-OTHER", want: refusedStale},
		"the code of another":        {query: "state=STATE&code=code-OTHER", want: refusedAnswer, denied: 1, spent: true},
		"a code that is a guess":     {query: "state=STATE&code=guess", want: refusedAnswer, denied: 1, spent: true},
		"two codes":                  {query: code + "&code=code-OTHER", want: refusedProvider, denied: 1, spent: true},
		"the provider says no":       {query: "state=STATE&error=access_denied&error_description=%3Cscript%3E", want: refusedProvider, denied: 1, spent: true},
		"another provider":           {query: code + "&iss=https%3A%2F%2Fevil.example", want: refusedAnswer, denied: 1, spent: true},
		"who may do nothing":         {query: code, change: func(_ *Front, g *gate, _ *idp) { g.set(annToken, nil) }, want: refusedPerson, denied: 1, spent: true},
		"too many from there":        {query: code, change: func(_ *Front, g *gate, _ *idp) { g.slow = true }, want: refusedOften, spent: true},
		"the provider is away":       {query: code, change: func(_ *Front, _ *gate, p *idp) { p.away = true }, want: refusedAway, spent: true},
		"no provider any more":       {query: code, change: func(_ *Front, _ *gate, p *idp) { p.off = true }, want: refusedOff, spent: true},
		"no persons any more":        {query: code, change: func(f *Front, _ *gate, _ *idp) { f.persons = func() Persons { return nil } }, want: refusedOff},
		"of a hub that started anew": {query: code, change: func(f *Front, _ *gate, _ *idp) { f.questions, _ = newQuestions() }, want: refusedStale},
	} {
		f, g, p := newFrontAt(t)
		state, own := begins(t, f, "")
		elses, other := begins(t, f, "")
		if row.cookie != nil {
			own = row.cookie(own, other)
		}
		if row.change != nil {
			row.change(f, g, p)
		}
		query := strings.NewReplacer("STATE", state, "OTHER", elses).Replace(row.query)
		resp := returns(t, f, query, own)
		if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/page/#/login/"+string(row.want) || sets(resp, cookieName) != "" || f.sessions.count() != 0 || len(g.entries) != 0 {
			t.Errorf("%s: %d to %q, %d sessions", name, resp.StatusCode, resp.Header.Get("Location"), f.sessions.count())
		}
		if cleared := len(resp.Cookies()) == 1 && resp.Cookies()[0].Name == askedName && resp.Cookies()[0].MaxAge < 0; cleared != row.spent {
			t.Errorf("%s: cookies %q", name, resp.Header.Values("Set-Cookie"))
		}
		if g.denied != row.denied {
			t.Errorf("%s: %d entries", name, g.denied)
		}
		if n := testutil.ToFloat64(f.refused.WithLabelValues(string(refusals()[row.want].Code))); n != 1 {
			t.Errorf("%s: counted %v times", name, n)
		}
	}
}

// An answer counts once, also with the cookie that a thief has kept.
func TestCallbackReplayed(t *testing.T) {
	f, _, p := newFrontAt(t)
	state, asked := begins(t, f, "")
	query := "state=" + state + "&code=code-" + state
	if resp := returns(t, f, query, asked); sets(resp, cookieName) == "" {
		t.Fatalf("%v", resp.Header)
	}
	p.mu.Lock()
	p.asked["code-"+state] = "again" // a provider that would take it a second time
	p.mu.Unlock()
	if resp := returns(t, f, query, asked); resp.Header.Get("Location") != "/page/#/login/stale" || sets(resp, cookieName) != "" || f.sessions.count() != 1 {
		t.Errorf("a second time: %v", resp.Header)
	}
	for range maxSpent + 1 { // others never fill it up
		q, c, err := f.questions.ask("/")
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, PathCallback, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(c)
		if _, err := f.questions.answered(r, q.State); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(f.questions.spent); n != maxSpent {
		t.Errorf("%d are remembered", n)
	}
}

// Only the page begins a login.
func TestBeginRefused(t *testing.T) {
	for name, row := range map[string]struct {
		method  string
		headers []string
		change  func(g *gate, p *idp)
		status  int
	}{
		"without the header": {http.MethodPost, []string{"-" + HeaderPage, ""}, nil, http.StatusForbidden},
		"by another site":    {http.MethodPost, []string{"Sec-Fetch-Site", "cross-site"}, nil, http.StatusForbidden},
		"another method":     {http.MethodPut, nil, nil, http.StatusMethodNotAllowed},
		"too many":           {http.MethodPost, nil, func(g *gate, _ *idp) { g.slow = true }, http.StatusTooManyRequests},
		"away":               {http.MethodPost, nil, func(_ *gate, p *idp) { p.away = true }, http.StatusServiceUnavailable},
		"off":                {http.MethodPost, nil, func(_ *gate, p *idp) { p.off = true }, http.StatusNotFound},
		"off, read":          {http.MethodGet, nil, func(_ *gate, p *idp) { p.off = true }, http.StatusNotFound},
	} {
		f, g, p := newFrontAt(t)
		if row.change != nil {
			row.change(g, p)
		}
		resp := send(t, f, row.method, pathProvider, "{}", row.headers...)
		if resp.StatusCode != row.status || resp.Header.Get("Set-Cookie") != "" || resp.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d, %v", name, resp.StatusCode, resp.Header)
		}
	}
	f, _ := newFront(t, nil) // a hub without a provider
	if resp := send(t, f, http.MethodGet, pathProvider, ""); resp.StatusCode != http.StatusNotFound {
		t.Errorf("without a provider: %d", resp.StatusCode)
	}
	if resp := send(t, f, http.MethodPost, PathCallback, ""); resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a posted answer: %d", resp.StatusCode)
	}
}

// Whatever view somebody says to come from, the browser stays at the page.
func TestViewLeadsNowhereElse(t *testing.T) {
	f, _, _ := newFrontAt(t)
	for view, want := range map[string]string{
		"":                                 "/",
		"/servers?q=n1":                    "/servers?q=n1",
		"https://evil.example":             "/",
		"//evil.example":                   "//evil.example", // behind the #
		"/\r\nSet-Cookie: x=y":             "/",
		"/a#b":                             "/",
		"/ü":                               "/",
		"/" + strings.Repeat("x", maxView): "/",
	} {
		state, asked := begins(t, f, view)
		resp := returns(t, f, "state="+state+"&code=code-"+state, asked)
		if got := resp.Header.Get("Location"); got != "/page/#"+want || resp.Header.Get("X-Evil") != "" {
			t.Errorf("%q leads to %q", view, got)
		}
	}
	for _, query := range []string{"redirect_uri=https://evil.example", "view=https://evil.example", "state=%2F%2Fevil.example&code=//evil.example"} {
		if got := returns(t, f, query, "").Header.Get("Location"); got != "/page/#/login/stale" {
			t.Errorf("%s leads to %q", query, got)
		}
	}
}

// A question ends after [Asked], and a session with its ID token, also what it has open.
func TestProviderAges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _, p := newFrontAt(t)
		p.ends = time.Now().Add(24 * time.Hour)
		state, asked := begins(t, f, "")
		time.Sleep(Asked)
		if resp := returns(t, f, "state="+state+"&code=code-"+state, asked); resp.Header.Get("Location") != "/page/#/login/stale" {
			t.Errorf("too late: %v", resp.Header)
		}
		ended := make(chan time.Time, 2)
		f.api = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			ended <- time.Now()
		})
		began := time.Now()
		for _, ends := range []time.Duration{7 * time.Minute, 24 * time.Hour} {
			p.ends = began.Add(ends)
			state, asked = begins(t, f, "")
			go send(t, f, http.MethodGet, "/v1/watch/servers", "", "Cookie", sets(returns(t, f, "state="+state+"&code=code-"+state, asked), cookieName))
			if at := <-ended; at.Sub(began) != min(ends, Life) {
				t.Errorf("a session with a token of %s ended after %s", ends, at.Sub(began))
			}
			began = time.Now()
		}
		synctest.Wait()
		if n := f.sessions.count(); n != 0 {
			t.Errorf("%d sessions", n)
		}
	})
}

// Each refusal has a sentence and what to do, and the page is told all.
func TestRefusals(t *testing.T) {
	f, _, _ := newFrontAt(t)
	var all map[refusal]said
	if err := json.Unmarshal(f.files[refusalsFile].plain, &all); err != nil {
		t.Fatal(err)
	}
	for _, why := range []refusal{refusedStale, refusedProvider, refusedAnswer, refusedPerson, refusedAway, refusedFull, refusedOften, refusedOff} {
		if s := all[why]; s.Code == "" || s.Detail == "" || s.Hint == "" {
			t.Errorf("%s: %+v", why, s)
		}
	}
	if len(all) != len(refusals()) {
		t.Errorf("%d are told", len(all))
	}
}

// FuzzCallback: no answer begins a session without the question's own cookie, and none leads elsewhere.
func FuzzCallback(f *testing.F) {
	for _, s := range []string{"state=a&code=b", "error=x", "state=a;code=b", "%zz", "iss=&state="} {
		f.Add(s, askedName+"=x")
	}
	front, _, _ := newFrontAt(f)
	f.Fuzz(func(t *testing.T, query, cookie string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://hub.example"+PathCallback, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.URL.RawQuery = query
		r.Header.Set("Cookie", cookie)
		w := record(front, r)
		if to := w.Header.Get("Location"); w.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to, "/page/#/login/") || front.sessions.count() != 0 {
			t.Fatalf("%q, %q: %d to %q", query, cookie, w.StatusCode, to)
		}
	})
}
