package resource

import (
	"time"

	"rackboot/protocol"
)

// ClaimBoot is what a claim boots as it was resolved, and what was proved of it.
type ClaimBoot struct {
	Reference string `json:"reference"`
	// Digest is of what the server is given to boot.
	Digest string `json:"digest"`
	// BootImage is the entry of the catalogue, and Version the version of it; empty for another image.
	BootImage string `json:"bootImage,omitempty"`
	Version   string `json:"version,omitempty"`
	// Revision is the group's; empty for a claim that follows none.
	Revision   string          `json:"revision,omitempty"`
	State      BootConfigState `json:"state,omitempty"`
	Generation uint64          `json:"generation"`
	// Booted is the digest that was proved to be installed or to run, since ProvisionedAt and by
	// Evidence; nil before.
	Booted        string                `json:"booted,omitempty"`
	ProvisionedAt *time.Time            `json:"provisionedAt,omitempty"`
	Evidence      protocol.EvidenceKind `json:"evidence,omitempty"`
	// AdoptedBy is who says that it is installed, where that is no proof; empty else.
	AdoptedBy string `json:"adoptedBy,omitempty"`
}
