package identity

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// ClientID is that of the provider's only client: public, with PKCE, refresh tokens and the device flow.
const ClientID = "rackctl"

// Password is that of all users.
const Password = "verysecure"

// User is a person that the provider knows.
type User struct {
	Name       string // with it the person logs in, and it is the subject
	Email      string
	Unverified bool // the address
	Groups     []string
}

// Provider is the provider. It is safe for concurrent use.
type Provider struct {
	URL string // the issuer
	CA  []byte // PEM of the authority of its certificate

	srv  *httptest.Server
	away atomic.Bool
	// Asked counts the requests that came, also while it was away.
	Asked atomic.Int64

	mu    sync.Mutex
	users map[string]User
	key   *key
	life  time.Duration // of ID tokens
	pages map[string]page
}

// page is a client with a redirect to a site.
type page struct{ secret, redirect string }

// New starts a provider that ends with the test.
func New(t testing.TB, users ...User) *Provider {
	t.Helper()
	p := &Provider{users: map[string]User{}, life: time.Hour, pages: map[string]page{}}
	for _, u := range users {
		p.users[u.Name] = u
	}
	p.Rotate(t)
	var handler http.Handler
	p.srv = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.Asked.Add(1)
		if p.away.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	p.URL = "https://" + p.srv.Listener.Addr().String()
	clients := map[string]*storage.Client{ClientID: storage.NativeClient(ClientID, "http://127.0.0.1/callback")}
	handler = exampleop.SetupServer(p.URL, store{storage.NewStorageWithClients(accounts{p}, clients), p}, nil, false)
	p.srv.StartTLS()
	t.Cleanup(p.srv.Close)
	p.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.srv.Certificate().Raw})
	return p
}

// Client trusts the provider's certificate.
func (p *Provider) Client() *http.Client { return p.srv.Client() }

// Away has the provider answer nothing, or answer again.
func (p *Provider) Away(away bool) { p.away.Store(away) }

// Register adds a client whose persons come back to a site; without a secret it is public.
func (p *Provider) Register(id, secret, redirect string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pages[id] = page{secret, redirect}
}

func (p *Provider) page(id string) (page, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, ok := p.pages[id]
	return one, ok
}

// Set adds a user, or changes one.
func (p *Provider) Set(u User) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.users[u.Name] = u
}

// Live has ID tokens live so long from now on.
func (p *Provider) Live(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.life = d
}

// Rotate has the provider sign with a new key; the one before is forgotten.
func (p *Provider) Rotate(t testing.TB) {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.key = &key{id: rand.Text(), key: k}
}

func (p *Provider) now() (*key, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.key, p.life
}

// Public is the public key of now.
func (p *Provider) Public() (id string, k *rsa.PublicKey) {
	now, _ := p.now()
	return now.id, &now.key.PublicKey
}

// Claims are those of a good ID token of a user, for tests to spoil.
func (p *Provider) Claims(user string) map[string]any {
	p.mu.Lock()
	defer p.mu.Unlock()
	u, now := p.users[user], time.Now()
	return map[string]any{
		"iss": p.URL, "aud": ClientID, "sub": u.Name, "exp": now.Add(p.life).Unix(), "iat": now.Unix(),
		"email": u.Email, "email_verified": !u.Unverified, "groups": u.Groups, "preferred_username": u.Name,
	}
}

// Sign signs claims with the key of now, whatever they are.
func (p *Provider) Sign(t testing.TB, claims map[string]any) string {
	t.Helper()
	k, _ := p.now()
	return SignWith(t, jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: k.key, KeyID: k.id}}, claims)
}

// SignWith signs claims with any key.
func SignWith(t testing.TB, with jose.SigningKey, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(with, nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(raw)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// browser is a client that keeps cookies and follows where it is sent.
func (p *Provider) browser() (*http.Client, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	return &http.Client{Jar: jar, Transport: p.Client().Transport}, nil
}

// Return opens a page of the provider as a browser does, logs a user in there, and returns where the browser is sent
// then, without going there.
func (p *Provider) Return(ctx context.Context, page, user string) (*url.URL, error) {
	b, err := p.browser()
	if err != nil {
		return nil, err
	}
	b.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if r.URL.Host != p.srv.Listener.Addr().String() {
			return &leftError{r.URL}
		}
		return nil
	}
	err = p.logIn(ctx, b, page, user)
	if left, ok := errors.AsType[*leftError](err); ok {
		return left.to, nil
	}
	if err == nil {
		err = errors.New("the provider sends the browser nowhere")
	}
	return nil, err
}

// leftError is where a browser leaves the provider.
type leftError struct{ to *url.URL }

func (e *leftError) Error() string { return "left to " + e.to.Host }

// LogIn opens a page of the provider as a browser does, logs a user in there, and follows to where that leads,
// which is mostly rackctl.
func (p *Provider) LogIn(ctx context.Context, page, user string) error {
	b, err := p.browser()
	if err != nil {
		return err
	}
	return p.logIn(ctx, b, page, user)
}

func (p *Provider) logIn(ctx context.Context, b *http.Client, page, user string) error {
	at, _, err := open(ctx, b, http.MethodGet, page, nil)
	if err != nil {
		return err
	}
	id := at.Query().Get("authRequestID")
	if id == "" {
		return fmt.Errorf("%s is no page to log in", at)
	}
	_, _, err = open(ctx, b, http.MethodPost, p.URL+"/login/username", url.Values{"username": {user}, "password": {Password}, "id": {id}})
	return err
}

// Confirm has a user confirm a device by its code.
func (p *Provider) Confirm(ctx context.Context, code, user string) error {
	b, err := p.browser()
	if err != nil {
		return err
	}
	if _, _, err := open(ctx, b, http.MethodPost, p.URL+"/device/login", url.Values{"username": {user}, "password": {Password}, "user_code": {code}}); err != nil {
		return err
	}
	_, body, err := open(ctx, b, http.MethodPost, p.URL+"/device/confirm", url.Values{"action": {"allowed"}})
	if err == nil && !strings.Contains(body, "allowed") {
		err = fmt.Errorf("not confirmed: %s", body)
	}
	return err
}

func open(ctx context.Context, b *http.Client, method, to string, form url.Values) (at *url.URL, body string, err error) {
	r, err := http.NewRequestWithContext(ctx, method, to, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, "", err
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := b.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s: %s", resp.Request.URL, resp.Status, raw)
	}
	return resp.Request.URL, string(raw), err
}

// accounts has the users as the example store wants them.
type accounts struct{ p *Provider }

// GetUserByID implements storage.UserStore.
func (a accounts) GetUserByID(id string) *storage.User {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	u, ok := a.p.users[id]
	if !ok {
		return nil
	}
	return &storage.User{ID: u.Name, Username: u.Name, Password: Password, Email: u.Email, EmailVerified: !u.Unverified}
}

// GetUserByUsername implements storage.UserStore.
func (a accounts) GetUserByUsername(name string) *storage.User { return a.GetUserByID(name) }

// ExampleClientID implements storage.UserStore.
func (accounts) ExampleClientID() string { return "service" }

// store is the example store with groups, and with keys that change.
type store struct {
	*storage.Storage
	p *Provider
}

// SetUserinfoFromRequest adds the groups.
func (s store) SetUserinfoFromRequest(ctx context.Context, info *oidc.UserInfo, token op.IDTokenRequest, scopes []string) error {
	if err := s.Storage.SetUserinfoFromRequest(ctx, info, token, scopes); err != nil {
		return err
	}
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	if u := s.p.users[token.GetSubject()]; u.Groups != nil {
		info.AppendClaims("groups", u.Groups)
	}
	return nil
}

// GetClientByClientID implements op.Storage.
func (s store) GetClientByClientID(ctx context.Context, id string) (op.Client, error) {
	if one, ok := s.p.page(id); ok {
		if one.secret == "" {
			return client{storage.NativeClient(id, one.redirect), s.p}, nil
		}
		return client{storage.WebClient(id, one.secret, one.redirect), s.p}, nil
	}
	c, err := s.Storage.GetClientByClientID(ctx, id)
	if err != nil {
		return nil, err
	}
	return client{c, s.p}, nil
}

// AuthorizeClientIDSecret implements op.Storage.
func (s store) AuthorizeClientIDSecret(ctx context.Context, id, secret string) error {
	if one, ok := s.p.page(id); ok {
		if one.secret == "" || one.secret != secret {
			return errors.New("the secret is wrong")
		}
		return nil
	}
	return s.Storage.AuthorizeClientIDSecret(ctx, id, secret)
}

// SigningKey implements op.Storage.
func (s store) SigningKey(context.Context) (op.SigningKey, error) {
	k, _ := s.p.now()
	return k, nil
}

// KeySet implements op.Storage.
func (s store) KeySet(context.Context) ([]op.Key, error) {
	k, _ := s.p.now()
	return []op.Key{public{k}}, nil
}

// client is that of rackctl.
type client struct {
	op.Client
	p *Provider
}

// GrantTypes implements op.Client.
func (client) GrantTypes() []oidc.GrantType {
	return []oidc.GrantType{oidc.GrantTypeCode, oidc.GrantTypeRefreshToken, oidc.GrantTypeDeviceCode}
}

// IDTokenUserinfoClaimsAssertion implements op.Client: claims are in ID tokens.
func (client) IDTokenUserinfoClaimsAssertion() bool { return true }

// IDTokenLifetime implements op.Client.
func (c client) IDTokenLifetime() time.Duration {
	_, life := c.p.now()
	return life
}

type key struct {
	id  string
	key *rsa.PrivateKey
}

// SignatureAlgorithm implements op.SigningKey.
func (*key) SignatureAlgorithm() jose.SignatureAlgorithm { return jose.RS256 }

// Key implements op.SigningKey.
func (k *key) Key() any { return k.key }

// ID implements op.SigningKey.
func (k *key) ID() string { return k.id }

type public struct{ *key }

// Algorithm implements op.Key.
func (public) Algorithm() jose.SignatureAlgorithm { return jose.RS256 }

// Use implements op.Key.
func (public) Use() string { return "sig" }

// Key implements op.Key.
func (k public) Key() any { return &k.key.key.PublicKey }
