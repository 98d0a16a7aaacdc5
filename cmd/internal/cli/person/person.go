package person

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"rackboot/protocol"
)

const (
	// askTimeout bounds one question to the provider.
	askTimeout = 20 * time.Second
	// loginTimeout bounds how long somebody may take to log in.
	loginTimeout = 5 * time.Minute
	// maxHeader bounds the headers of a redirect in bytes.
	maxHeader = 32 << 10
	// callback is the path of the redirect, which the provider must know: http://127.0.0.1/callback, with any port.
	callback = "/callback"
)

// At is where a person logs in.
type At struct {
	Issuer, ClientID string
	CA               []byte // PEM of the authorities of the provider's certificate; empty is the system's
}

// Tokens are what a login gives.
type Tokens struct {
	ID      string // for the hub
	Refresh string // for the next ID token; empty if the provider gives none
	Expires time.Time
}

// provider is one that was asked what it offers.
type provider struct {
	at     At
	ctx    context.Context // carries the HTTP client
	oauth  oauth2.Config
	verify *oidc.IDTokenVerifier
}

// open asks the provider what it offers.
func (at At) open(ctx context.Context) (*provider, error) {
	const op = "log in"
	client := &http.Client{Timeout: askTimeout}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableKeepAlives = true
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if len(at.CA) > 0 {
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(at.CA) {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "the CA of the provider is no certificate in PEM").WithHint("correct --oidc-ca")
		}
	}
	client.Transport = t
	ctx = oidc.ClientContext(ctx, client)
	p, err := oidc.NewProvider(ctx, at.Issuer)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "the OpenID provider %s was not reached: %w", at.Issuer, err).
			WithHint("try again; --oidc-ca names the CA of its certificate")
	}
	return &provider{
		at: at, ctx: ctx, verify: p.Verifier(&oidc.Config{ClientID: at.ClientID}),
		oauth: oauth2.Config{ClientID: at.ClientID, Endpoint: p.Endpoint(), Scopes: []string{oidc.ScopeOpenID, "email", "profile", oidc.ScopeOfflineAccess}},
	}, nil
}

// tokens reads the answer of the provider. nonce is that of the request, or empty if it had none.
func (p *provider) tokens(got *oauth2.Token, nonce string) (Tokens, error) {
	const op = "log in"
	raw, _ := got.Extra("id_token").(string)
	if raw == "" {
		return Tokens{}, protocol.Errorf(protocol.CodeDenied, op, "the provider gave no ID token").WithHint("its client %q must have the scope openid", p.at.ClientID)
	}
	id, err := p.verify.Verify(p.ctx, raw)
	if err != nil {
		return Tokens{}, protocol.Errorf(protocol.CodeDenied, op, "the provider's ID token is wrong: %w", err).WithHint("compare the clocks of this host and of the provider")
	}
	if id.Nonce != nonce && nonce != "" {
		return Tokens{}, protocol.Errorf(protocol.CodeDenied, op, "the ID token is of another login").WithHint("log in again")
	}
	return Tokens{ID: raw, Refresh: got.RefreshToken, Expires: id.Expiry}, nil
}

// Browser has somebody log in with a browser on this host. show is told the URL to open. It waits for 5 minutes.
//
// Errors: unavailable if the provider is not reached; denied if it refuses; timeout if nobody logs in.
func (at At) Browser(ctx context.Context, show func(url string)) (Tokens, error) {
	const op = "log in"
	p, err := at.open(ctx)
	if err != nil {
		return Tokens{}, err
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return Tokens{}, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err).WithHint("rackctl login --oidc --device needs no listener")
	}
	p.oauth.RedirectURL = "http://" + ln.Addr().String() + callback
	state, nonce, pkce := rand.Text(), rand.Text(), oauth2.GenerateVerifier()
	type answer struct{ code, refused string }
	answers := make(chan answer, 1)
	srv := &http.Server{ReadHeaderTimeout: askTimeout, ReadTimeout: askTimeout, WriteTimeout: askTimeout, IdleTimeout: askTimeout, MaxHeaderBytes: maxHeader, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if r.URL.Path != callback || q.Get("state") != state {
			http.Error(w, "this is not the answer to rackctl's question", http.StatusBadRequest)
			return
		}
		one := answer{code: q.Get("code")}
		if one.code == "" {
			one.refused = fmt.Sprintf("%.200q: %.200q", q.Get("error"), q.Get("error_description"))
		}
		select {
		case answers <- one:
		default: // it was answered already
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("rackctl has the answer; this page can be closed.\n")) // the browser may be gone
	})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = srv.Serve(ln) // ends by Close or Shutdown
	}()
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if srv.Shutdown(end) != nil { // lets the page be shown
			_ = srv.Close()
		}
		<-ended
	}()
	show(p.oauth.AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(pkce)))
	wait, cancel := context.WithTimeout(ctx, loginTimeout)
	defer cancel()
	select {
	case <-wait.Done():
		return Tokens{}, protocol.Errorf(protocol.CodeTimeout, op, "nobody logged in").WithHint("open the URL in a browser on this host, or use --device")
	case a := <-answers:
		if a.refused != "" {
			return Tokens{}, protocol.Errorf(protocol.CodeDenied, op, "the provider refuses: %s", a.refused).WithHint("its client %q must be public, and may redirect to http://127.0.0.1%s", at.ClientID, callback)
		}
		got, err := p.oauth.Exchange(p.ctx, a.code, oauth2.VerifierOption(pkce))
		if err != nil {
			return Tokens{}, refused(err)
		}
		return p.tokens(got, nonce)
	}
}

// Device has somebody log in anywhere with a code. show is told where, and the code. It waits as long as the code counts.
//
// Errors: as Browser; unsupported if the provider offers it to nobody.
func (at At) Device(ctx context.Context, show func(url, code string)) (Tokens, error) {
	const op = "log in"
	p, err := at.open(ctx)
	if err != nil {
		return Tokens{}, err
	}
	if p.oauth.Endpoint.DeviceAuthURL == "" {
		return Tokens{}, protocol.Errorf(protocol.CodeUnsupported, op, "the provider %s has no device flow", at.Issuer).WithHint("leave --device out")
	}
	d, err := p.oauth.DeviceAuth(p.ctx)
	if err != nil {
		return Tokens{}, refused(err)
	}
	show(d.VerificationURI, d.UserCode)
	wait, cancel := context.WithTimeout(p.ctx, loginTimeout)
	defer cancel()
	got, err := p.oauth.DeviceAccessToken(wait, d)
	if wait.Err() != nil {
		return Tokens{}, protocol.Errorf(protocol.CodeTimeout, op, "nobody logged in").WithHint("log in again; the code counts for some minutes")
	}
	if err != nil {
		return Tokens{}, refused(err)
	}
	return p.tokens(got, "")
}

// Renew trades a refresh token for new tokens. The refresh token may be another one afterwards, which must be kept.
//
// Errors: unavailable if the provider is not reached; denied if the refresh token counts no longer.
func (at At) Renew(ctx context.Context, refresh string) (Tokens, error) {
	p, err := at.open(ctx)
	if err != nil {
		return Tokens{}, err
	}
	got, err := p.oauth.TokenSource(p.ctx, &oauth2.Token{RefreshToken: refresh}).Token()
	if err != nil {
		return Tokens{}, refused(err)
	}
	out, err := p.tokens(got, "")
	if out.Refresh == "" && err == nil {
		out.Refresh = refresh
	}
	return out, err
}

// refused is what the provider answered; it tells no token.
func refused(err error) error {
	const op = "log in"
	if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok && e.Response != nil && e.Response.StatusCode < 500 {
		return protocol.Errorf(protocol.CodeDenied, op, "the provider refuses: %.80q %.200q", e.ErrorCode, e.ErrorDescription).WithHint("rackctl login --oidc logs in anew")
	}
	return protocol.Errorf(protocol.CodeUnavailable, op, "the provider did not give a token").WithHint("try again; rackctl login --oidc logs in anew")
}
