package people

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"

	"rackboot/hub/access"
	"rackboot/protocol"
	"rackboot/state"
)

// The claims that are looked at where the configuration names no others.
const (
	DefaultUsernameClaim = "email"
	DefaultGroupsClaim   = "groups"
	DefaultPrefix        = "oidc:"
)

const (
	// maxName bounds the name of a person in bytes, with its prefix: what the audit log keeps of a name.
	maxName = protocol.MaxAuditName
	// maxToken bounds a token in bytes.
	maxToken = 16 << 10
	// maxGroups bounds the groups of the configuration.
	maxGroups = 256
)

// Config is which provider is believed, and what its persons may do.
type Config struct {
	// Issuer is the provider, as it stands in its tokens: an https URL.
	Issuer string
	// ClientID is what tokens must be for (aud): rackctl. Those of Page count too.
	ClientID string
	// Page is the hub's page, where persons log in with a browser.
	Page Page
	// UsernameClaim is the claim that names a person; empty is email, which the provider must have verified.
	UsernameClaim string
	// GroupsClaim is the claim with the groups of a person; empty is groups.
	GroupsClaim string
	// Prefix begins the name of each person, so that it is nobody's of the hub's file; empty is "oidc:".
	Prefix string
	// Groups are those that may do something.
	Groups []Group
	// Client asks the provider; nil is http.DefaultClient. Its own deadline counts besides that of the package.
	Client *http.Client
	Clock  state.Clock
}

// Group is what a group of the provider may do, and where.
type Group struct {
	Name       string
	Roles      []access.Role
	Scope      access.Scope
	BreakGlass bool
}

// People verifies tokens. It is safe for concurrent use.
type People struct {
	cfg  Config
	keys *keys
}

// algorithms are those that a token may be signed with (RFC 7518 section 3.1, RFC 8037): of key pairs. "none"
// and those of a shared secret are not among them.
func algorithms() []string {
	return []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA}
}

// New knows persons; invalid if the configuration names a thing that cannot be. Nothing is asked of the
// provider yet. The keys that prev knows go on if they are of the same provider; prev may be nil.
func New(cfg Config, prev *People) (*People, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	p := &People{cfg: cfg, keys: newKeys(cfg.Issuer, cfg.Client, cfg.Clock)}
	if prev != nil && prev.cfg.Issuer == cfg.Issuer {
		p.keys.take(prev.keys)
	}
	return p, nil
}

// complete fills in what is left out.
func (c *Config) complete() error {
	for _, d := range []struct {
		field *string
		value string
	}{{&c.UsernameClaim, DefaultUsernameClaim}, {&c.GroupsClaim, DefaultGroupsClaim}, {&c.Prefix, DefaultPrefix}} {
		if *d.field == "" {
			*d.field = d.value
		}
	}
	if c.Client == nil {
		c.Client = http.DefaultClient
	}
	return c.Check()
}

// Check says what is wrong with a configuration, by the keys of the hub's file.
func (c *Config) Check() error {
	wrong := func(format string, args ...any) error {
		return protocol.Errorf(protocol.CodeInvalid, "", "oidc."+format, args...)
	}
	switch {
	case !plainURL(c.Issuer):
		return wrong("issuer: %q is not the https URL of a provider, as it stands in its tokens", c.Issuer)
	case c.ClientID == "":
		return wrong("clientID is needed: the id of a public client that the provider has for rackctl")
	case c.Page.Redirect == "" && (c.Page.ClientID != "" || c.Page.Secret != ""):
		return wrong("page.url is needed: the https URL of this hub in browsers, to which the provider sends them back")
	case c.Page.Redirect != "" && !plainURL(c.Page.Redirect):
		return wrong("page.url: %q is not the https URL of this hub in browsers", c.Page.Redirect)
	case c.Prefix != "" && (!strings.HasSuffix(c.Prefix, ":") || len(c.Prefix) < 2 || len(c.Prefix) > 32 || strings.ContainsFunc(c.Prefix, unplain)):
		return wrong("usersPrefix: %q is not a word that ends with a colon; without one, a person could be called as a client is", c.Prefix)
	case c.Prefix == "local:":
		return wrong("usersPrefix: local: is for users of an agent's host")
	case len(c.Groups) == 0:
		return wrong("groups: name at least one; nobody else may do anything")
	case len(c.Groups) > maxGroups:
		return wrong("groups: %d are more than %d", len(c.Groups), maxGroups)
	}
	seen := map[string]bool{}
	for i, g := range c.Groups {
		at := fmt.Sprintf("groups[%d]", i)
		switch {
		case g.Name == "":
			return wrong("%s.group is needed: the name or id that the provider gives the group", at)
		case seen[g.Name]:
			return wrong("%s.group: %q is there twice; give it all of its roles at once", at, g.Name)
		case len(g.Roles) == 0:
			return wrong("%s.roles: say what the group may do: viewer, operator, fencer, admin", at)
		}
		for _, r := range g.Roles {
			if !slices.Contains(access.Roles(), r) {
				return wrong("%s.roles: %q is not one of viewer, operator, fencer, admin", at, r)
			}
		}
		seen[g.Name] = true
	}
	return nil
}

// plainURL reports whether a text is an https URL of a host and a path, and nothing else.
func plainURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme == "https" && u.Host != "" && u.RawQuery == "" && u.Fragment == "" && u.User == nil && u.Opaque == ""
}

// unplain reports whether a character is none of a name: space, control and what looks like nothing.
func unplain(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }

// Looks reports whether a bearer token has the form of an ID token (RFC 7519 section 3: three parts).
func Looks(token string) bool { return len(token) <= maxToken && strings.Count(token, ".") == 2 }

// claims are what is read of a token beyond what the verifier reads.
type claims map[string]json.RawMessage

func (c claims) text(name string) (s string) {
	_ = json.Unmarshal(c[name], &s) // another kind of value is no text
	return s
}

// yes reads a boolean, which some providers write as a text.
func (c claims) yes(name string) bool {
	var b bool
	return json.Unmarshal(c[name], &b) == nil && b || c.text(name) == "true"
}

// list reads texts, or one.
func (c claims) list(name string) (l []string, ok bool) {
	if json.Unmarshal(c[name], &l) == nil && l != nil {
		return l, true
	}
	s := c.text(name)
	return []string{s}, s != ""
}

// again is what to do with a token that is not believed.
const again = "rackctl login --oidc, or a login at the page, makes a new one"

func refuse(hint, format string, args ...any) error {
	return protocol.Errorf(protocol.CodeDenied, "authenticate", format, args...).WithHint("%s", hint)
}

// away is the error of a provider that is needed and not reached. The code is unavailable.
func away(err error) error {
	return protocol.Errorf(protocol.CodeUnavailable, "authenticate", "%w", err).WithHint("try again when it is back; tokens and certificates of hub.yaml work without it")
}

// believed reads a token of the provider for one of the clients. The errors are those of [People.Caller].
func (p *People) believed(ctx context.Context, token string) (*oidc.IDToken, claims, error) {
	if !Looks(token) {
		return nil, nil, refuse(again, "the token is not an ID token")
	}
	by := &asked{keys: p.keys}
	// Whom it is for is looked at below: there may be two clients.
	verifier := oidc.NewVerifier(p.cfg.Issuer, by, &oidc.Config{SkipClientIDCheck: true, SupportedSigningAlgs: algorithms(), Now: p.cfg.Clock})
	id, err := verifier.Verify(ctx, token)
	if err != nil {
		if gone, ok := errors.AsType[*awayError](by.err); ok {
			return nil, nil, away(gone)
		}
		if expired, ok := errors.AsType[*oidc.TokenExpiredError](err); ok {
			return nil, nil, refuse(again, "the ID token ended at %s", expired.Expiry.UTC().Format(time.RFC3339))
		}
		return nil, nil, refuse(again, "the ID token is not one of %s: %w", p.cfg.Issuer, err)
	}
	ours := p.cfg.clients()
	if !slices.ContainsFunc(ours, func(c string) bool { return slices.Contains(id.Audience, c) }) {
		return nil, nil, refuse(again, "the ID token is not one of %s for client %s", p.cfg.Issuer, strings.Join(ours, " or "))
	}
	var c claims
	if err := id.Claims(&c); err != nil {
		return nil, nil, refuse(again, "the claims of the ID token cannot be read: %w", err)
	}
	if azp := c.text("azp"); azp != "" && !slices.Contains(ours, azp) {
		return nil, nil, refuse(again, "the ID token was given to client %q (azp), not to %s", short(azp), strings.Join(ours, " or "))
	}
	return id, c, nil
}

// Caller returns whom a token is of, and what that person may do: all that the person's groups may.
//
// Errors: denied for a token that is not believed, and for a person who may do nothing; unavailable if the
// provider's keys are needed and it is not reached. Both say which provider.
func (p *People) Caller(ctx context.Context, token string) (access.Caller, error) {
	id, c, err := p.believed(ctx, token)
	if err != nil {
		return access.Caller{}, err
	}
	name := c.text(p.cfg.UsernameClaim)
	switch {
	case name == "":
		return access.Caller{}, refuse("have the provider put it into ID tokens, or name another oidc.usernameClaim in hub.yaml", "the ID token has no claim %q, which names persons", p.cfg.UsernameClaim)
	case p.cfg.UsernameClaim == DefaultUsernameClaim && !c.yes("email_verified"):
		return access.Caller{}, refuse("verify it there, or name another oidc.usernameClaim in hub.yaml", "%s has not verified the address %q (email_verified)", p.cfg.Issuer, short(name))
	case len(p.cfg.Prefix)+len(name) > maxName || strings.ContainsFunc(name, unplain):
		return access.Caller{}, refuse("name another oidc.usernameClaim in hub.yaml", "the claim %q is no name: it is too long, or has spaces or control characters", p.cfg.UsernameClaim)
	}
	groups, ok := c.list(p.cfg.GroupsClaim)
	if !ok {
		return access.Caller{}, refuse("have the provider put groups into ID tokens, or name another oidc.groupsClaim in hub.yaml", "the ID token of %s has no claim %q", short(name), p.cfg.GroupsClaim)
	}
	who := access.Caller{Name: p.cfg.Prefix + name, Issuer: p.cfg.Issuer, Subject: id.Subject}
	return p.allow(who, groups)
}

// allow gives a person what its groups may do. Groups with different scopes are refused: roles of the one would be
// had in the scope of the other.
func (p *People) allow(who access.Caller, groups []string) (access.Caller, error) {
	const op = "authenticate"
	var first *Group
	for i := range p.cfg.Groups {
		g := &p.cfg.Groups[i]
		if !slices.Contains(groups, g.Name) {
			continue
		}
		if first == nil {
			first, who.Scope = g, g.Scope
		}
		if g.Scope.String() != first.Scope.String() {
			return access.Caller{}, protocol.Errorf(protocol.CodeDenied, op, "%s is in the groups %q and %q, which have different scopes", short(who.Name), first.Name, g.Name).
				WithHint("take the person out of one of them, or give both the same scope in oidc.groups of hub.yaml")
		}
		for _, r := range g.Roles {
			if !slices.Contains(who.Roles, r) {
				who.Roles = append(who.Roles, r)
			}
		}
		who.BreakGlass = who.BreakGlass || g.BreakGlass
	}
	if first == nil {
		return access.Caller{}, protocol.Errorf(protocol.CodeDenied, op, "%s is in no group that may do something here; the ID token has %d groups", short(who.Name), len(groups)).
			WithHint("add the person to a group of oidc.groups in hub.yaml, then rackctl login --oidc")
	}
	return who, nil
}

// short bounds what an error says of a claim.
func short(s string) string {
	if len(s) <= 80 {
		return s
	}
	return strings.ToValidUTF8(s[:80], "") + "..."
}

// Login is what rackctl needs to have a person log in.
func (p *People) Login() (issuer, clientID string) { return p.cfg.Issuer, p.cfg.ClientID }
