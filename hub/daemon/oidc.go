package daemon

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"time"

	"rackboot/hub/access"
	"rackboot/hub/people"
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
}

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
	c := o.people()
	return c.Check()
}

func (o *OIDC) people() people.Config {
	c := people.Config{Issuer: o.Issuer, ClientID: o.ClientID, UsernameClaim: o.UsernameClaim, GroupsClaim: o.GroupsClaim, Prefix: o.UsersPrefix, Clock: clock.Now}
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
