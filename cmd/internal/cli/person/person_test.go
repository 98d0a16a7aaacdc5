package person

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"rackboot/integration/identity"
	"rackboot/protocol"
)

func start(t *testing.T) (*identity.Provider, At) {
	t.Helper()
	p := identity.New(t, identity.User{Name: "ada", Email: "ada@example.com", Groups: []string{"ops"}})
	return p, At{Issuer: p.URL, ClientID: identity.ClientID, CA: p.CA}
}

// A login with a browser gives an ID token, and a refresh token that gives the next one, once.
func TestBrowser(t *testing.T) {
	p, at := start(t)
	seen := make(chan error, 1)
	got, err := at.Browser(t.Context(), func(page string) {
		q, err := url.Parse(page)
		if err != nil || q.Query().Get("code_challenge_method") != "S256" || q.Query().Get("code_challenge") == "" || q.Query().Get("state") == "" || q.Query().Get("nonce") == "" {
			t.Errorf("%s, %v", page, err)
		}
		go func() { seen <- p.LogIn(t.Context(), page, "ada") }()
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-seen; err != nil {
		t.Error(err)
	}
	if strings.Count(got.ID, ".") != 2 || got.Refresh == "" || got.Expires.IsZero() {
		t.Fatalf("%+v", got)
	}
	next, err := at.Renew(t.Context(), got.Refresh)
	if err != nil || strings.Count(next.ID, ".") != 2 || next.Refresh == "" {
		t.Fatalf("%+v, %v", next, err)
	}
	if _, err := at.Renew(t.Context(), "stolen-"+next.Refresh); protocol.CodeOf(err) != protocol.CodeDenied || strings.Contains(err.Error(), next.Refresh) {
		t.Errorf("a refresh token that is none: %v", err)
	}
	p.Away(true)
	if _, err := at.Renew(t.Context(), next.Refresh); protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), p.URL) {
		t.Errorf("the provider is away: %v", err)
	}
}

// What comes to loopback without the state of the login is nobody's answer; a refusal of the provider ends the login.
func TestBrowserRefused(t *testing.T) {
	p, at := start(t)
	var asks sync.WaitGroup
	_, err := at.Browser(t.Context(), func(page string) {
		u, err := url.Parse(page)
		if err != nil {
			t.Fatal(err)
		}
		to := u.Query().Get("redirect_uri")
		asks.Go(func() {
			for _, row := range []struct {
				query string
				want  int
			}{
				{"?code=forged", http.StatusBadRequest},
				{"?code=forged&state=x", http.StatusBadRequest},
				{"?error=access_denied&error_description=no&state=" + url.QueryEscape(u.Query().Get("state")), http.StatusOK},
			} {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, to+row.query, http.NoBody)
				if err != nil {
					t.Error(err)
					return
				}
				resp, err := p.Client().Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				if resp.Body.Close(); resp.StatusCode != row.want {
					t.Errorf("%s: %d", row.query, resp.StatusCode)
				}
			}
		})
	})
	asks.Wait() // the last answer is on its way when the login ends
	if protocol.CodeOf(err) != protocol.CodeDenied || !strings.Contains(err.Error(), "access_denied") {
		t.Errorf("%v", err)
	}
	p.Client().CloseIdleConnections()
}

// Nobody waits longer than the caller.
func TestBrowserEnds(t *testing.T) {
	_, at := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := at.Browser(ctx, func(string) { cancel() }); protocol.CodeOf(err) != protocol.CodeTimeout {
		t.Errorf("%v", err)
	}
}

// A login by a code gives the same.
func TestDevice(t *testing.T) {
	p, at := start(t)
	seen := make(chan error, 1)
	got, err := at.Device(t.Context(), func(page, code string) {
		if !strings.HasPrefix(page, p.URL) {
			t.Errorf("%s", page)
		}
		seen <- p.Confirm(t.Context(), code, "ada")
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-seen; err != nil {
		t.Error(err)
	}
	if strings.Count(got.ID, ".") != 2 || got.Refresh == "" {
		t.Errorf("%+v", got)
	}
}

// A provider that nobody can trust is not asked for a token.
func TestUntrusted(t *testing.T) {
	p, at := start(t)
	for name, change := range map[string]func(){
		"another CA":     func() { at.CA = nil },
		"another issuer": func() { at = At{Issuer: p.URL + "/", ClientID: identity.ClientID, CA: p.CA} },
	} {
		change()
		if _, err := at.Renew(t.Context(), "x"); protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
}
