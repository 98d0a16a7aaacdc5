package protocol

import "time"

// FoundBy is how a BMC came to be known.
type FoundBy string

// The ways.
const (
	FoundByManifest FoundBy = "manifest" // somebody applied it
	FoundByLease    FoundBy = "lease"    // it asked for an address on a bmc segment
	FoundByScan     FoundBy = "scan"     // it answered in a range that a segment lists
)

// MaxFound bounds the BMCs that one report names, and those of a rack that wait to
// be accepted.
const MaxFound = 512

// FoundBMC is a BMC that an agent found. Nothing but its unauthenticated service
// root was read, and no credentials were tried.
type FoundBMC struct {
	Segment string    `json:"segment"`
	By      FoundBy   `json:"by"`
	MAC     string    `json:"mac,omitempty"` // of its interface, where it is known
	Address string    `json:"address"`       // https://host[:port]
	At      time.Time `json:"at"`            // last seen
	// Fingerprint is of the certificate that it showed, for people to compare.
	Fingerprint string `json:"fingerprint,omitempty"`
	Vendor      string `json:"vendor,omitempty"`  // ServiceRoot.Vendor
	Product     string `json:"product,omitempty"` // ServiceRoot.Product
	UUID        string `json:"uuid,omitempty"`    // ServiceRoot.UUID
	Redfish     string `json:"redfish,omitempty"` // ServiceRoot.RedfishVersion
	// Problem says why the service root could not be read.
	Problem string `json:"problem,omitempty"`
}
