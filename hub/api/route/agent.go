package route

import (
	"crypto/x509"
	"slices"

	"rackboot/hub/access"
)

// Authorities are the authorities whose certificates are those of clients alone.
type Authorities []*x509.Certificate

// Vouch reports whether the verified chain is a client's: one of these authorities signed it, or
// the hub's authority signed it for a client (see [access.ClientUnit]).
func (a Authorities) Vouch(chain []*x509.Certificate) bool {
	leaf, root := chain[0], chain[len(chain)-1]
	marked := slices.Equal(leaf.Subject.OrganizationalUnit, []string{access.ClientUnit})
	return marked || slices.ContainsFunc(a, root.Equal)
}

// Agent returns the name of the agent whose certificate TLS has verified; empty without one. A
// client's certificate is no agent's, whatever its common name is.
func (a Authorities) Agent(chains [][]*x509.Certificate) string {
	for _, chain := range chains {
		leaf, root := chain[0], chain[len(chain)-1]
		if slices.Contains(leaf.Subject.OrganizationalUnit, access.ClientUnit) {
			continue
		}
		if !slices.ContainsFunc(a, root.Equal) {
			return leaf.Subject.CommonName
		}
	}
	return ""
}
