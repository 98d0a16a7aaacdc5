package resource

// Purpose is why a boot configuration exists.
type Purpose string

// The purposes: who owns a server. Empty is a claim.
const (
	PurposeClaim       Purpose = "claim"
	PurposeMaintenance Purpose = "maintenance"
	PurposeDiscovery   Purpose = "discovery"
)

// Purposes lists the purposes.
func Purposes() []Purpose { return []Purpose{PurposeClaim, PurposeMaintenance, PurposeDiscovery} }

// Or is the purpose, and PurposeClaim where none is named.
func (p Purpose) Or() Purpose {
	if p == "" {
		return PurposeClaim
	}
	return p
}
