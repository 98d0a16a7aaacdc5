package route

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"testing"

	"rackboot/hub/access"
)

// An agent is known by a certificate of the hub's own authority that is no client's,
// whatever name a client's has.
func TestAgentOf(t *testing.T) {
	own, clients := &x509.Certificate{Raw: []byte("own")}, &x509.Certificate{Raw: []byte("clients")}
	leaf := func(units ...string) *x509.Certificate {
		return &x509.Certificate{Subject: pkix.Name{CommonName: "r1-1", OrganizationalUnit: units}}
	}
	a := NewAuthorities([]*x509.Certificate{clients})
	for _, row := range []struct {
		name   string
		chains [][]*x509.Certificate
		want   string
	}{
		{"none", nil, ""},
		{"an agent's", [][]*x509.Certificate{{leaf(), own}}, "r1-1"},
		{"a client's of the hub", [][]*x509.Certificate{{leaf(access.ClientUnit), own}}, ""},
		{"a client's of the hub with more units", [][]*x509.Certificate{{leaf("x", access.ClientUnit), own}}, ""},
		{"of the authority of clients", [][]*x509.Certificate{{leaf(), clients}}, ""},
	} {
		if got := a.Agent(row.chains); got != row.want {
			t.Errorf("%s: %q", row.name, got)
		}
	}
}
