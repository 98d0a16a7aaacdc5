package people

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"rackboot/integration/identity"
	"rackboot/protocol"
)

const (
	redirect = "https://hub.example:8443/page/oidc/callback"
	verifier = "0123456789-0123456789-0123456789-0123456789-x"
)

// goes logs a user in with a question, and returns the code of the answer.
func goes(t *testing.T, p *identity.Provider, who *People, state, nonce, verifier string) (code string) {
	t.Helper()
	to, err := who.Ask(t.Context(), state, nonce, verifier)
	if err != nil {
		t.Fatal(err)
	}
	back, err := p.Return(t.Context(), to, "ada")
	if err != nil {
		t.Fatal(err)
	}
	q := back.Query()
	if got := back.Scheme + "://" + back.Host + back.Path; got != redirect || q.Get("state") != state || q.Get("code") == "" {
		t.Fatalf("sent back to %s", back)
	}
	return q.Get("code")
}

// A person logs in with a browser, at a public client, one with a secret, and that of rackctl; the token counts as any of
// that person's.
func TestBrowser(t *testing.T) {
	p := identity.New(t, ada())
	for _, page := range []Page{
		{Redirect: redirect, ClientID: "public"}, {Redirect: redirect, ClientID: "confidential", Secret: "of the page"}, {Redirect: redirect},
	} {
		who, _ := open(t, p, func(c *Config) { c.Page = page })
		p.Register(who.cfg.pageClient(), page.Secret, redirect)
		if issuer, ok := who.Browsers(); !ok || issuer != p.URL {
			t.Errorf("%+v: logs in at %q, %v", page, issuer, ok)
		}
		code := goes(t, p, who, "s", "n", verifier)
		token, ends, err := who.Answer(t.Context(), code, "n", verifier)
		if err != nil || time.Until(ends) < 50*time.Minute || time.Until(ends) > time.Hour {
			t.Fatalf("%+v: ends %s, %v", page, ends, err)
		}
		if got, err := who.Caller(t.Context(), token); err != nil || got.Name != "oidc:ada@example.com" || got.Subject != "ada" {
			t.Errorf("%+v: %+v, %v", page, got, err)
		}
		// RFC 6749, section 4.1.2: a code is traded once.
		if token, _, err := who.Answer(t.Context(), code, "n", verifier); protocol.CodeOf(err) != protocol.CodeInvalid || token != "" {
			t.Errorf("%+v: the same code again: %v", page, err)
		}
	}
}

// An answer counts for its own question alone: the code with its verifier, the ID token by its nonce.
func TestAnswerOfAnother(t *testing.T) {
	p := identity.New(t, ada())
	who, _ := open(t, p, func(c *Config) { c.Page = Page{Redirect: redirect, ClientID: "page"} })
	p.Register("page", "", redirect)
	for name, row := range map[string]struct{ code, nonce, verifier, says string }{
		"another nonce":    {nonce: "m", verifier: verifier, says: "of another login"},
		"no nonce":         {verifier: verifier, says: "of another login"},
		"another verifier": {nonce: "n", verifier: verifier + "y", says: "refuses the code"},
		"no verifier":      {nonce: "n", says: "refuses the code"},
		"a guess":          {code: "guess", nonce: "n", verifier: verifier, says: "refuses the code"},
	} {
		if row.code == "" {
			row.code = goes(t, p, who, "s", "n", verifier)
		}
		token, _, err := who.Answer(t.Context(), row.code, row.nonce, row.verifier)
		if protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), row.says) || token != "" {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), row.code) && row.code != "guess" {
			t.Errorf("%s: the code is in %v", name, err)
		}
	}
	p.Away(true)
	if _, _, err := who.Answer(t.Context(), "any", "n", verifier); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("away: %v", err)
	}
}

// A provider that answers with a token for somebody else, of another, or sends the code on is not believed.
func TestAnswerSpoilt(t *testing.T) {
	p := identity.New(t, ada())
	claims := func(change map[string]any) map[string]any {
		c := p.Claims("ada")
		c["nonce"], c["aud"] = "n", "page"
		maps.Copy(c, change)
		return c
	}
	other := identity.New(t, ada())
	sentOn := false
	elsewhere := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sentOn = true }))
	t.Cleanup(elsewhere.Close)
	for name, row := range map[string]struct {
		token string // empty sends the code on
		code  protocol.Code
	}{
		"as it must be":           {p.Sign(t, claims(nil)), ""},
		"for another client":      {p.Sign(t, claims(map[string]any{"aud": "wiki"})), protocol.CodeInvalid},
		"for rackctl":             {p.Sign(t, claims(map[string]any{"aud": identity.ClientID})), protocol.CodeInvalid},
		"given to another client": {p.Sign(t, claims(map[string]any{"aud": []string{"page", "wiki"}, "azp": "wiki"})), protocol.CodeInvalid},
		"ended":                   {p.Sign(t, claims(map[string]any{"exp": time.Now().Add(-time.Minute).Unix()})), protocol.CodeInvalid},
		"of another nonce":        {p.Sign(t, claims(map[string]any{"nonce": "m"})), protocol.CodeInvalid},
		"without a nonce":         {p.Sign(t, claims(map[string]any{"nonce": nil})), protocol.CodeInvalid},
		"of another issuer":       {other.Sign(t, claims(nil)), protocol.CodeInvalid},
		"none at all":             {"", protocol.CodeInvalid},
		"not one":                 {"words", protocol.CodeInvalid},
		"sends the code on":       {"on", protocol.CodeUnavailable},
	} {
		who, _ := open(t, p, func(c *Config) { c.Page = Page{Redirect: redirect, ClientID: "page"} })
		if _, err := who.Ask(t.Context(), "s", "n", verifier); err != nil {
			t.Fatal(err)
		}
		srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if row.token == "on" {
				http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"access_token":"x","token_type":"Bearer","id_token":"` + row.token + `"}`))
		}))
		who.keys.at.token = srv.URL
		who.cfg.Client = srv.Client() // the same authority as the provider's
		token, _, err := who.Answer(t.Context(), "c", "n", verifier)
		srv.Close()
		if protocol.CodeOf(err) != row.code && row.token != "on" || err != nil && token != "" || row.token == "on" && err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if sentOn {
		t.Error("the code was sent on")
	}
}

// The question asks for a code with PKCE and a nonce, and for no access that lasts; nobody is asked where there is no page,
// and a provider that is away is said to be.
func TestAsk(t *testing.T) {
	p := identity.New(t, ada())
	who, clock := open(t, p, func(c *Config) { c.Page = Page{Redirect: redirect, ClientID: "page", Secret: "of the page"} })
	p.Away(true)
	for range 5 {
		if _, err := who.Ask(t.Context(), "s", "n", verifier); protocol.CodeOf(err) != protocol.CodeUnavailable || protocol.HintOf(err) == "" {
			t.Errorf("away: %v", err)
		}
	}
	if n := p.Asked.Load(); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	p.Away(false)
	clock.add(askEvery)
	raw, err := who.Ask(t.Context(), "s", "n", verifier)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	for name, want := range map[string]string{
		"response_type": "code", "client_id": "page", "redirect_uri": redirect, "state": "s", "nonce": "n", "code_challenge_method": "S256", "scope": "openid email profile",
	} {
		if q.Get(name) != want {
			t.Errorf("%s is %q", name, q.Get(name))
		}
	}
	if q.Get("code_challenge") == "" || strings.Contains(raw, verifier) || strings.Contains(raw, "of+the+page") {
		t.Errorf("it says too much, or too little: %s", raw)
	}
	none, _ := open(t, p, func(*Config) {})
	if _, ok := none.Browsers(); ok {
		t.Error("there is a login without a page")
	}
	if _, err := none.Ask(t.Context(), "s", "n", verifier); protocol.CodeOf(err) != protocol.CodeUnsupported {
		t.Errorf("without a page: %v", err)
	}
	if _, _, err := none.Answer(t.Context(), "c", "n", verifier); protocol.CodeOf(err) != protocol.CodeUnsupported {
		t.Errorf("without a page: %v", err)
	}
}

// What a provider says of itself is used where it is https; a secret goes as it asks for it.
func TestOffers(t *testing.T) {
	for name, row := range map[string]struct {
		d    discovery
		want offers
	}{
		"nothing said of secrets": {discovery{Authorize: "https://p/a", Token: "https://p/t"}, offers{"https://p/a", "https://p/t", 2}},
		"both ways":               {discovery{Authorize: "https://p/a", Token: "https://p/t", Methods: []string{"client_secret_post", "client_secret_basic"}}, offers{"https://p/a", "https://p/t", 2}},
		"in the body":             {discovery{Authorize: "https://p/a", Token: "https://p/t", Methods: []string{"client_secret_post"}}, offers{"https://p/a", "https://p/t", 1}},
		"a script":                {discovery{Authorize: "javascript:alert(1)", Token: "https://p/t"}, offers{}},
		"codes in the open":       {discovery{Authorize: "https://p/a", Token: "http://p/t"}, offers{}},
		"none":                    {discovery{}, offers{}},
	} {
		if got := row.d.offers(); got != row.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
