package netboot

import (
	"net/netip"
	"time"
)

// Lease6 is one DHCPv6 binding.
type Lease6 struct {
	Segment string     `json:"segment"`
	Address netip.Addr `json:"address"`
	// Client is what the server knows the machine by: a MAC address, or uuid: and a
	// UUID where no MAC address was seen. IAID and DUID differ within one boot.
	Client string `json:"client"`
	// MAC is empty where none was seen.
	MAC     string    `json:"mac,omitempty"`
	Server  string    `json:"server,omitempty"`
	Expires time.Time `json:"expires"`
	// Declined marks an address that a client found in use; it is not offered
	// before Expires.
	Declined bool `json:"declined,omitempty"`
}
