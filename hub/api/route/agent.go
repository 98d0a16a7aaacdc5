package route

import (
	"crypto/x509"
	"slices"

	"rackboot/hub/access"
)

// Authorities are the authorities of clients. The zero Authorities has none. A value never changes.
type Authorities struct {
	// Now are those whose certificates are those of clients.
	Now []*x509.Certificate
	// Ever are Now, and those that were among them since the hub started. A connection that was made
	// before an authority was taken away shows its certificate still: it is nobody's, and no agent's.
	Ever []*x509.Certificate
}

// NewAuthorities returns authorities that were never changed.
func NewAuthorities(now []*x509.Certificate) Authorities { return Authorities{Now: now, Ever: now} }

// Replaced returns the authorities after others have taken the place of those of now.
func (a Authorities) Replaced(now []*x509.Certificate) Authorities {
	out := Authorities{Now: now, Ever: slices.Clone(a.Ever)}
	for _, c := range now {
		if !slices.ContainsFunc(out.Ever, c.Equal) {
			out.Ever = append(out.Ever, c)
		}
	}
	return out
}

// Vouch reports whether the verified chain is a client's: one of these authorities signed it, or
// the hub's authority signed it for a client (see [access.ClientUnit]).
func (a Authorities) Vouch(chain []*x509.Certificate) bool {
	leaf, root := chain[0], chain[len(chain)-1]
	if slices.ContainsFunc(a.Ever, root.Equal) {
		return slices.ContainsFunc(a.Now, root.Equal)
	}
	return slices.Equal(leaf.Subject.OrganizationalUnit, []string{access.ClientUnit})
}

// Agents returns the name of the agent whose certificate TLS has verified; empty without one. It is
// safe for concurrent use.
type Agents func(chains [][]*x509.Certificate) string

// Agent is [Agents] with these authorities. A client's certificate is no agent's, whatever its common
// name is.
func (a Authorities) Agent(chains [][]*x509.Certificate) string {
	for _, chain := range chains {
		leaf, root := chain[0], chain[len(chain)-1]
		if slices.Contains(leaf.Subject.OrganizationalUnit, access.ClientUnit) {
			continue
		}
		if !slices.ContainsFunc(a.Ever, root.Equal) {
			return leaf.Subject.CommonName
		}
	}
	return ""
}
