package people

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"rackboot/hub/access"
	"rackboot/integration/identity"
	"rackboot/protocol"
)

// hours is a clock that a test sets.
type hours struct {
	mu sync.Mutex
	at time.Time
}

func (h *hours) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at
}

func (h *hours) add(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = h.at.Add(d)
}

func ada() identity.User {
	return identity.User{Name: "ada", Email: "ada@example.com", Groups: []string{"staff", "ops"}}
}

func groups() []Group {
	return []Group{
		{Name: "ops", Roles: []access.Role{access.Operator, access.Fencer}},
		{Name: "lead", Roles: []access.Role{access.Fencer}, BreakGlass: true},
		{Name: "team-a", Roles: []access.Role{access.Viewer}, Scope: access.Scope{MatchLabels: map[string]string{"team": "a"}}},
	}
}

func open(t *testing.T, p *identity.Provider, change func(*Config)) (*People, *hours) {
	t.Helper()
	h := &hours{at: time.Now()}
	c := Config{Issuer: p.URL, ClientID: identity.ClientID, Groups: groups(), Client: p.Client(), Clock: h.now}
	change(&c)
	out, err := New(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out, h
}

// What a person may do is what the groups may, and the name is never one of the hub's file.
func TestCaller(t *testing.T) {
	p := identity.New(t, ada())
	who, _ := open(t, p, func(*Config) {})
	for name, row := range map[string]struct {
		groups any
		want   access.Caller
		says   string
	}{
		"one of two counts":   {[]string{"staff", "ops"}, access.Caller{Roles: []access.Role{access.Operator, access.Fencer}}, ""},
		"both together":       {[]string{"lead", "ops"}, access.Caller{Roles: []access.Role{access.Operator, access.Fencer}, BreakGlass: true}, ""},
		"one, as a text":      {"lead", access.Caller{Roles: []access.Role{access.Fencer}, BreakGlass: true}, ""},
		"with a scope":        {[]string{"team-a"}, access.Caller{Roles: []access.Role{access.Viewer}, Scope: access.Scope{MatchLabels: map[string]string{"team": "a"}}}, ""},
		"of different scopes": {[]string{"team-a", "ops"}, access.Caller{}, "different scopes"},
		"of no group of ours": {[]string{"staff"}, access.Caller{}, "in no group"},
		"of no group":         {[]string{}, access.Caller{}, "in no group"},
		"in another case":     {[]string{"OPS"}, access.Caller{}, "in no group"},
		"without the claim":   {nil, access.Caller{}, `no claim "groups"`},
	} {
		claims := p.Claims("ada")
		claims["groups"] = row.groups
		if row.groups == nil {
			delete(claims, "groups")
		}
		got, err := who.Caller(t.Context(), p.Sign(t, claims))
		if row.says != "" {
			if protocol.CodeOf(err) != protocol.CodeDenied || !strings.Contains(err.Error(), row.says) || protocol.HintOf(err) == "" || len(got.Roles) > 0 {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
			continue
		}
		row.want.Name, row.want.Issuer, row.want.Subject = "oidc:ada@example.com", p.URL, "ada"
		if diff := cmp.Diff(row.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got): %s", name, err, diff)
		}
	}
}

// What is not a token of the provider for this client and a verified person, signed with one of its key pairs and
// not over, is denied, and says why.
func TestCallerRefuses(t *testing.T) {
	p := identity.New(t, ada())
	other := identity.New(t, ada())
	who, _ := open(t, p, func(*Config) {})
	id, public := p.Public()
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	secret := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	claims := func(change map[string]any) map[string]any {
		c := p.Claims("ada")
		maps.Copy(c, change)
		return c
	}
	good := p.Sign(t, claims(nil))
	if _, err := who.Caller(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(claims(nil))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(good, ".")
	body := base64.RawURLEncoding.EncodeToString
	for name, row := range map[string]struct{ token, says string }{
		"nothing":                     {"", "not an ID token"},
		"words":                       {"a.b.c", "not one of " + p.URL},
		"too long":                    {good + strings.Repeat("x", maxToken), "not an ID token"},
		"expired":                     {p.Sign(t, claims(map[string]any{"exp": time.Now().Add(-time.Minute).Unix()})), "ended at"},
		"without an end":              {p.Sign(t, claims(map[string]any{"exp": nil})), "not one of"},
		"not yet":                     {p.Sign(t, claims(map[string]any{"nbf": time.Now().Add(time.Hour).Unix()})), "not one of"},
		"for another client":          {p.Sign(t, claims(map[string]any{"aud": "wiki"})), "for client rackctl"},
		"for nobody":                  {p.Sign(t, claims(map[string]any{"aud": nil})), "for client rackctl"},
		"given to another client":     {p.Sign(t, claims(map[string]any{"aud": []string{"rackctl", "wiki"}, "azp": "wiki"})), "azp"},
		"of another issuer, our key":  {p.Sign(t, claims(map[string]any{"iss": other.URL})), "not one of " + p.URL},
		"of another issuer":           {other.Sign(t, other.Claims("ada")), "not one of " + p.URL},
		"of a key that is not there":  {identity.SignWith(t, jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: stranger, KeyID: "x"}}, claims(nil)), "no key of the provider"},
		"of another key, same id":     {identity.SignWith(t, jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: stranger, KeyID: id}}, claims(nil)), "not one of"},
		"alg none":                    {body([]byte(`{"alg":"none"}`)) + "." + body(raw) + ".", "not one of"},
		"alg none with a signature":   {body([]byte(`{"alg":"none","kid":"`+id+`"}`)) + "." + body(raw) + "." + parts[2], "not one of"},
		"HS256 of the public key":     {identity.SignWith(t, jose.SigningKey{Algorithm: jose.HS256, Key: jose.JSONWebKey{Key: secret, KeyID: id}}, claims(nil)), "not one of"},
		"HS256 of the modulus":        {identity.SignWith(t, jose.SigningKey{Algorithm: jose.HS256, Key: jose.JSONWebKey{Key: public.N.Bytes(), KeyID: id}}, claims(nil)), "not one of"},
		"other claims, old signature": {parts[0] + "." + body([]byte(strings.Replace(string(raw), "ada@", "eve@", 1))) + "." + parts[2], "not one of"},
		"an address of anybody":       {p.Sign(t, claims(map[string]any{"email_verified": false})), "email_verified"},
		"an address, nothing said":    {p.Sign(t, claims(map[string]any{"email_verified": nil})), "email_verified"},
		"no name":                     {p.Sign(t, claims(map[string]any{"email": nil})), `no claim "email"`},
		"a name of two lines":         {p.Sign(t, claims(map[string]any{"email": "ada\nadmin"})), "no name"},
		"a name that is hidden":       {p.Sign(t, claims(map[string]any{"email": "ada\u202e@x"})), "no name"},
		"a long name":                 {p.Sign(t, claims(map[string]any{"email": strings.Repeat("a", 300)})), "no name"},
	} {
		got, err := who.Caller(t.Context(), row.token)
		if protocol.CodeOf(err) != protocol.CodeDenied || !strings.Contains(err.Error(), row.says) || protocol.HintOf(err) == "" || got.Name != "" || len(got.Roles) > 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if err != nil && row.token != "" && len(row.token) < maxToken && len(row.token) > 20 && strings.Contains(err.Error(), row.token) {
			t.Errorf("%s: the token is in %v", name, err)
		}
	}
}

// Other claims name persons and groups where the configuration says so; only an address must be verified.
func TestOtherClaims(t *testing.T) {
	p := identity.New(t, identity.User{Name: "ada", Email: "ada@example.com", Unverified: true})
	who, _ := open(t, p, func(c *Config) { c.UsernameClaim, c.GroupsClaim, c.Prefix = "preferred_username", "memberOf", "corp:" })
	claims := p.Claims("ada")
	claims["memberOf"] = []string{"ops"}
	if got, err := who.Caller(t.Context(), p.Sign(t, claims)); err != nil || got.Name != "corp:ada" {
		t.Errorf("%+v, %v", got, err)
	}
}

// While the provider is away the keys that are known go on, and who needs another is told so; it is not asked by
// each request.
func TestProviderAway(t *testing.T) {
	p := identity.New(t, ada())
	who, clock := open(t, p, func(*Config) {})
	p.Away(true)
	token := p.Sign(t, p.Claims("ada"))
	for range 20 {
		if _, err := who.Caller(t.Context(), token); protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), p.URL) || protocol.HintOf(err) == "" {
			t.Fatalf("%v", err)
		}
	}
	if n := p.Asked.Load(); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	p.Away(false)
	clock.add(askEvery)
	if _, err := who.Caller(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	p.Away(true)
	clock.add(keysAge - time.Minute) // the token lives an hour
	asked := p.Asked.Load()
	if _, err := who.Caller(t.Context(), token); err != nil || p.Asked.Load() != asked {
		t.Errorf("with known keys: %v, asked %d times", err, p.Asked.Load()-asked)
	}
	clock.add(2 * time.Minute)
	p.Live(3 * time.Hour)
	token = p.Sign(t, p.Claims("ada"))
	for range 5 {
		if _, err := who.Caller(t.Context(), token); err != nil {
			t.Errorf("with known keys that are old: %v", err)
		}
	}
	if n := p.Asked.Load() - asked; n != 1 {
		t.Errorf("it was asked %d times for keys that are old", n)
	}
	// One that takes over goes on with the keys too.
	next, err := New(who.cfg, who)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := next.Caller(t.Context(), token); err != nil {
		t.Errorf("after a reload: %v", err)
	}
}

// A new key of the provider is found when its first token comes, however often strangers ask; and one that was
// withdrawn is forgotten within keysAge.
func TestKeysRotate(t *testing.T) {
	p := identity.New(t, ada())
	p.Live(3 * time.Hour)
	who, clock := open(t, p, func(*Config) {})
	old := p.Sign(t, p.Claims("ada"))
	if _, err := who.Caller(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	p.Rotate(t)
	fresh := p.Sign(t, p.Claims("ada"))
	if _, err := who.Caller(t.Context(), old); err != nil {
		t.Errorf("the key of before, still known: %v", err)
	}
	if _, err := who.Caller(t.Context(), fresh); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("just after it was asked: %v", err)
	}
	clock.add(askEvery)
	if _, err := who.Caller(t.Context(), fresh); err != nil {
		t.Errorf("the new key: %v", err)
	}
	clock.add(askEvery)
	if _, err := who.Caller(t.Context(), old); protocol.CodeOf(err) != protocol.CodeDenied || !strings.Contains(err.Error(), "no key") {
		t.Errorf("the key that was withdrawn: %v", err)
	}
	p.Rotate(t)
	clock.add(keysAge)
	if _, err := who.Caller(t.Context(), fresh); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("withdrawn, and nobody has shown another key: %v", err)
	}
}

// Many at once ask the provider once.
func TestManyAtOnce(t *testing.T) {
	p := identity.New(t, ada())
	who, _ := open(t, p, func(*Config) {})
	token := p.Sign(t, p.Claims("ada"))
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := who.Caller(t.Context(), token); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := p.Asked.Load(); n != 2 { // what there is, and its keys
		t.Errorf("it was asked %d times", n)
	}
}

// A configuration that cannot be is refused by its key.
func TestCheck(t *testing.T) {
	good := Config{Issuer: "https://login.example", ClientID: "x", Groups: groups()}
	for want, change := range map[string]func(*Config){
		"oidc.issuer: \"http":         func(c *Config) { c.Issuer = "http://login.example" },
		"oidc.issuer: \"https://a@b":  func(c *Config) { c.Issuer = "https://a@b" },
		"oidc.issuer: \"\"":           func(c *Config) { c.Issuer = "" },
		"oidc.clientID":               func(c *Config) { c.ClientID = "" },
		"oidc.usersPrefix: \"oidc\"":  func(c *Config) { c.Prefix = "oidc" },
		"oidc.usersPrefix: local:":    func(c *Config) { c.Prefix = "local:" },
		"oidc.groups: name":           func(c *Config) { c.Groups = nil },
		"oidc.groups[0].group":        func(c *Config) { c.Groups[0].Name = "" },
		"oidc.groups[1].group: \"ops": func(c *Config) { c.Groups[1].Name = "ops" },
		"oidc.groups[2].roles: say":   func(c *Config) { c.Groups[2].Roles = nil },
		"oidc.page.url: \"http":       func(c *Config) { c.Page.Redirect = "http://hub.example/page/oidc/callback" },
		"oidc.page.url is needed":     func(c *Config) { c.Page.ClientID = "page" },
		"oidc.groups[2].roles: \"ro":  func(c *Config) { c.Groups[2].Roles = []access.Role{"root"} },
	} {
		c := good
		c.Groups = slices.Clone(good.Groups)
		change(&c)
		if _, err := New(c, nil); protocol.CodeOf(err) != protocol.CodeInvalid || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	if _, err := New(good, nil); err != nil {
		t.Error(err)
	}
}

// Whatever a token is, it is refused or a person's whose name begins as it must.
func FuzzCaller(f *testing.F) {
	h := &hours{at: time.Now()}
	k := newKeys("https://login.example", nil, h.now)
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		f.Fatal(err)
	}
	k.known, k.got = []jose.JSONWebKey{{Key: &private.PublicKey, KeyID: "k", Algorithm: "RS256", Use: "sig"}}, h.at
	k.tried = h.at // nobody is asked
	who := &People{cfg: Config{Issuer: "https://login.example", ClientID: "x", Groups: groups(), Clock: h.now, UsernameClaim: "email", GroupsClaim: "groups", Prefix: "oidc:"}, keys: k}
	good := map[string]any{"iss": "https://login.example", "aud": "x", "sub": "s", "exp": h.at.Add(time.Hour).Unix(), "email": "a@b", "email_verified": true, "groups": []string{"ops"}}
	raw, err := json.Marshal(good)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte(`{"iss":"https://login.example","aud":["x"],"exp":99999999999,"email":{"a":1},"groups":"ops"}`))
	f.Add([]byte(`[]`))
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: private, KeyID: "k"}}, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		signed, err := signer.Sign(payload)
		if err != nil {
			return // no token at all
		}
		token, err := signed.CompactSerialize()
		if err != nil {
			return // no token at all
		}
		for _, give := range []string{token, string(payload)} {
			got, err := who.Caller(t.Context(), give)
			switch {
			case err != nil && (protocol.CodeOf(err) != protocol.CodeDenied || got.Name != "" || len(got.Roles) > 0):
				t.Errorf("%+v, %v", got, err)
			case err == nil && (!strings.HasPrefix(got.Name, "oidc:") || len(got.Name) > maxName || len(got.Roles) == 0 || strings.ContainsFunc(got.Name, unplain)):
				t.Errorf("%+v", got)
			}
		}
	})
}
