package protocol

import (
	"net/netip"
	"time"
)

// SegmentIntent is what an agent needs to serve one boot segment: the spec of a
// Segment resource as it travels in a RackDoc. The interface and the listen
// addresses are not in it: only the agent's local file may name those.
type SegmentIntent struct {
	Name   string       `json:"name"`
	Prefix netip.Prefix `json:"prefix"`
	// PoolFrom and PoolTo bound the dynamic addresses, both inclusive.
	PoolFrom netip.Addr `json:"poolFrom"`
	PoolTo   netip.Addr `json:"poolTo"`
	// Address is the agent's own address on the segment: DHCP server identifier
	// (option 54), and host of the boot URLs unless BaseURL says otherwise.
	Address netip.Addr `json:"address"`
	// Routers and DNS are options 3 and 6. UEFI HTTP boot prefers offers with
	// option 6, so Address stands in for DNS where it is empty.
	Routers []netip.Addr `json:"routers,omitempty"`
	DNS     []netip.Addr `json:"dns,omitempty"`
	// BaseURL is scheme and authority of boot URLs, e.g. http://10.0.0.1:8080.
	BaseURL string `json:"baseURL"`
	// LeaseTime is option 51.
	LeaseTime time.Duration `json:"leaseTime"`
}
