package resource

import (
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode"

	"rackboot/protocol"
)

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

// maxFoundText bounds what a BMC says of itself, in bytes.
const maxFoundText = 200

// Clean is the record in one form, with what a BMC says of itself shortened and
// without control characters. It is not ok if it names no address that a BMC could
// have, or no way in which it was found.
func (b FoundBMC) Clean() (out FoundBMC, ok bool) {
	b.MAC = canonicalMAC(b.MAC)
	var f fields
	if b.MAC != "" {
		f.mac("mac", b.MAC)
	}
	u, err := url.Parse(b.Address)
	if err != nil || u.Scheme != "https" || u.User != nil || u.RawQuery != "" || strings.Trim(u.Path, "/") != "" {
		return b, false
	}
	if _, err := netip.ParseAddr(u.Hostname()); err != nil {
		return b, false
	}
	b.Address = "https://" + u.Host
	if !protocol.ValidFingerprint(b.Fingerprint) {
		b.Fingerprint = ""
	}
	for _, s := range []*string{&b.Vendor, &b.Product, &b.UUID, &b.Redfish, &b.Problem} {
		*s = plain(*s, maxFoundText)
	}
	lease := b.By == FoundByLease && b.MAC != ""
	return b, len(f.FieldErrors) == 0 && (lease || b.By == FoundByScan)
}

// plain is a text of at most so many bytes without control characters.
func plain(s string, most int) string {
	s = strings.ToValidUTF8(s[:min(len(s), most)], "")
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, s)
}
