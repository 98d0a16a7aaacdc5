package people

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"rackboot/protocol"
)

// Page is the hub's page as a client of the provider (OpenID Connect Core 1.0, section 3.1).
type Page struct {
	// Redirect is where the provider sends browsers back to, an https URL; empty has no login at the page.
	Redirect string
	// ClientID is that of the page; empty is the one of rackctl.
	ClientID string
	// Secret is that of a confidential client; empty is a public one.
	Secret string
}

// offers is what the provider says of itself that a login of a browser needs.
type offers struct {
	authorize, token string
	style            oauth2.AuthStyle // how a client with a secret shows it
}

// Browsers returns who logs persons in with a browser; ok is false where nobody does.
func (p *People) Browsers() (issuer string, ok bool) {
	return p.cfg.Issuer, p.cfg.Page.Redirect != ""
}

// Ask returns the URL at which a person is to log in. state and nonce come back with the answer; verifier is of
// PKCE (RFC 7636): 43 characters or more, which nobody sees but the provider, and that when the code is traded.
//
// Errors: unavailable if the provider is needed and not reached; unsupported where nobody logs in with a browser.
func (p *People) Ask(ctx context.Context, state, nonce, verifier string) (url string, err error) {
	at, err := p.browser(ctx)
	if err != nil {
		return "", err
	}
	return at.AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier)), nil
}

// Answer trades the code of an answer for an ID token, which is verified as [People.Caller] does, and is of this
// question by its nonce. What its person may do is Caller's to say.
//
// Errors: invalid if the provider refuses the code, or its ID token is not believed; otherwise as Ask.
func (p *People) Answer(ctx context.Context, code, nonce, verifier string) (token string, ends time.Time, err error) {
	const op = "log in"
	at, err := p.browser(ctx)
	if err != nil {
		return "", time.Time{}, err
	}
	// Where a code and a secret are sent is the provider's own word of itself; nothing sends them on.
	client := *p.cfg.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	ask, cancel := context.WithTimeout(oidc.ClientContext(ctx, &client), askTimeout)
	defer cancel()
	got, err := at.Exchange(ask, code, oauth2.VerifierOption(verifier))
	if err != nil {
		if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok && e.Response != nil && e.Response.StatusCode < 500 {
			return "", time.Time{}, protocol.Errorf(protocol.CodeInvalid, op, "the provider %s refuses the code: status %d, %.80q", p.cfg.Issuer, e.Response.StatusCode, e.ErrorCode)
		}
		return "", time.Time{}, protocol.Errorf(protocol.CodeUnavailable, op, "the provider %s did not give a token", p.cfg.Issuer)
	}
	token, _ = got.Extra("id_token").(string)
	if token == "" {
		return "", time.Time{}, protocol.Errorf(protocol.CodeInvalid, op, "the provider %s gave no ID token to client %s", p.cfg.Issuer, at.ClientID)
	}
	id, _, err := p.believed(ctx, token)
	switch {
	case protocol.CodeOf(err) == protocol.CodeUnavailable:
		return "", time.Time{}, err
	case err != nil:
		return "", time.Time{}, protocol.Errorf(protocol.CodeInvalid, op, "%w", err)
	case !slices.Contains(id.Audience, at.ClientID):
		return "", time.Time{}, protocol.Errorf(protocol.CodeInvalid, op, "the ID token is not for client %s, which asked", at.ClientID)
	case nonce == "" || id.Nonce != nonce:
		return "", time.Time{}, protocol.Errorf(protocol.CodeInvalid, op, "the ID token is of another login")
	}
	return token, id.Expiry, nil
}

// browser is the page as a client of the provider.
func (p *People) browser(ctx context.Context) (oauth2.Config, error) {
	if p.cfg.Page.Redirect == "" {
		return oauth2.Config{}, protocol.Errorf(protocol.CodeUnsupported, "log in", "nobody logs in at the page with a provider").WithHint("oidc.page in hub.yaml says how")
	}
	of, err := p.keys.provider(ctx)
	if err != nil {
		return oauth2.Config{}, away(err)
	}
	c := oauth2.Config{
		ClientID: p.cfg.pageClient(), ClientSecret: p.cfg.Page.Secret, RedirectURL: p.cfg.Page.Redirect,
		// Without an access that goes on while nobody is there: the page keeps no refresh token.
		Scopes:   []string{oidc.ScopeOpenID, "email", "profile"},
		Endpoint: oauth2.Endpoint{AuthURL: of.authorize, TokenURL: of.token, AuthStyle: of.style},
	}
	if c.ClientSecret == "" {
		c.Endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	return c, nil
}

// pageClient is the client's id of the page.
func (c *Config) pageClient() string {
	if c.Page.ClientID != "" {
		return c.Page.ClientID
	}
	return c.ClientID
}

// clients are those whose ID tokens count.
func (c *Config) clients() []string {
	if c.Page.ClientID == "" || c.Page.ClientID == c.ClientID {
		return []string{c.ClientID}
	}
	return []string{c.ClientID, c.Page.ClientID}
}
