package daemon

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"rackboot/hub/access"
	"rackboot/hub/api/gate"
	"rackboot/hub/people"
	"rackboot/hub/web"
	"rackboot/protocol"
	"rackboot/state/clock"
)

// OIDC is the OpenID provider that persons log in with, and what they may do.
type OIDC struct {
	// Issuer is the provider's https URL, as it stands in its tokens.
	Issuer string `yaml:"issuer"`
	// ClientID is that of rackctl there: a public client, without a secret.
	ClientID string `yaml:"clientID"`
	// CAFile is PEM of the authorities of the provider's certificate. Default the system's.
	CAFile string `yaml:"caFile"`
	// UsernameClaim names a person; default email, which the provider must have verified.
	UsernameClaim string `yaml:"usernameClaim"`
	// GroupsClaim has a person's groups; default groups.
	GroupsClaim string `yaml:"groupsClaim"`
	// UsersPrefix begins the names of persons, and ends with a colon; default "oidc:".
	UsersPrefix string `yaml:"usersPrefix"`
	// Groups are those whose persons may do something.
	Groups []OIDCGroup `yaml:"groups"`
	// Page has persons log in at the hub's page; without it they log in with a token there.
	Page *OIDCPage `yaml:"page"`
}

// OIDCPage is the hub's page as a client of the provider, whose redirect is URL/page/oidc/callback.
type OIDCPage struct {
	// URL is how browsers reach the hub: https and host, with a port unless it is 443.
	URL string `yaml:"url"`
	// ClientID is the page's own at the provider; default oidc.clientID.
	ClientID string `yaml:"clientID"`
	// ClientSecretFile has the secret of a confidential client, one word, and may be read by the hub alone. Default a
	// public client.
	ClientSecretFile string `yaml:"clientSecretFile"`
}

// redirect is where the provider sends browsers back to.
func (p *OIDCPage) redirect() string { return strings.TrimSuffix(p.URL, "/") + web.PathCallback }

// OIDCGroup is what the persons of a group may do, as [Client] says of a client.
type OIDCGroup struct {
	Group      string        `yaml:"group"`
	Roles      []access.Role `yaml:"roles"`
	Scope      *Scope        `yaml:"scope"`
	BreakGlass bool          `yaml:"breakGlass"`
}

// providerTimeout bounds one question to the provider.
const providerTimeout = 5 * time.Second

func (o *OIDC) check() error {
	if o == nil {
		return nil
	}
	for i, g := range o.Groups {
		if g.Scope != nil && len(g.Scope.MatchLabels) == 0 {
			return fmt.Errorf("oidc.groups[%d].scope has no labels; leave it out if the group may do it everywhere", i)
		}
	}
	if o.Page != nil {
		if u, err := url.Parse(o.Page.URL); err != nil || u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" {
			return fmt.Errorf("oidc.page.url: %q is not the https URL of this hub in browsers, such as https://hub.example:8443", o.Page.URL)
		}
	}
	c := o.people()
	return c.Check()
}

// persons returns who logs persons in at the page, as the gate knows them now.
func persons(g *gate.Gate) func() web.Persons {
	return func() web.Persons {
		if p, ok := g.People().(*people.People); ok {
			return p
		}
		return nil
	}
}

func (o *OIDC) people() people.Config {
	c := people.Config{Issuer: o.Issuer, ClientID: o.ClientID, UsernameClaim: o.UsernameClaim, GroupsClaim: o.GroupsClaim, Prefix: o.UsersPrefix, Clock: clock.Now}
	if o.Page != nil {
		c.Page = people.Page{Redirect: o.Page.redirect(), ClientID: o.Page.ClientID}
	}
	for _, g := range o.Groups {
		one := people.Group{Name: g.Group, Roles: g.Roles, BreakGlass: g.BreakGlass}
		if g.Scope != nil {
			one.Scope.MatchLabels = g.Scope.MatchLabels
		}
		c.Groups = append(c.Groups, one)
	}
	return c
}

// open knows persons; the provider is asked only once one comes.
func (o *OIDC) open(prev *people.People) (*people.People, error) {
	c := o.people()
	if o.Page != nil && o.Page.ClientSecretFile != "" {
		secret, err := readWord(o.Page.ClientSecretFile, 1)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeOf(err), "read oidc.page.clientSecretFile", "%w", err).WithHint("write the secret of the provider's client into it, mode 0600, or leave it out for a public client")
		}
		c.Page.Secret = secret
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CAFile != "" {
		raw, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, "read oidc.caFile", "%w", err).WithHint("correct oidc.caFile in the hub's file, or leave it out")
		}
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(raw) {
			return nil, protocol.Errorf(protocol.CodeInvalid, "read oidc.caFile", "%s has no certificate in PEM", o.CAFile)
		}
	}
	t.DisableKeepAlives = true // it is asked once an hour
	c.Client = &http.Client{Transport: t, Timeout: providerTimeout}
	p, err := people.New(c, prev)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "read the hub's file", "%w", err)
	}
	return p, nil
}
