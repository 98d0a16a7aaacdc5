package resource

import (
	"time"

	"rackboot/protocol"
)

// Provisioned is the agent's record that the first boot of a configuration
// ended with an installed system. It is never unset for its claim UID and
// generation.
type Provisioned struct {
	OwnerUID    string                `json:"ownerUID"`
	Generation  uint64                `json:"generation"`
	Server      string                `json:"server"`
	ServerUID   string                `json:"serverUID"`
	ImageDigest string                `json:"imageDigest"`
	Evidence    protocol.EvidenceKind `json:"evidence"`
	At          time.Time             `json:"at"`
	Attempt     string                `json:"attempt"`
	// Class is how strong the evidence is; empty is reported.
	Class EvidenceClass `json:"class,omitempty"`
	// Secrets is how the boot's user data went; empty without.
	Secrets SecretsWay `json:"secrets,omitempty"`
}
