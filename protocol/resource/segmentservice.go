package resource

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// ServiceMode is what the agent's DHCPv4 server does on a segment.
type ServiceMode string

// The modes.
const (
	ServiceFull         ServiceMode = "full"         // leases from the pool and boot data
	ServiceReservations ServiceMode = "reservations" // leases for reserved machines only, and boot data
	ServiceProxy        ServiceMode = "proxy"        // boot data beside another server's leases
	ServiceNone         ServiceMode = "none"         // silence
)

// maxReservations bounds the reservations of a segment: they travel in one document.
const maxReservations = 512

// SegmentService says how addresses are given on a segment.
type SegmentService struct {
	// Mode is full by default.
	Mode ServiceMode `json:"mode,omitempty"`
	// Authoritative says that no other server leases addresses on the segment: a client
	// that wants one which is not known is told no instead of nothing.
	Authoritative bool `json:"authoritative,omitempty"`
	// Reservations give a machine always the same address.
	Reservations []Reservation `json:"reservations,omitempty"`
	// Domain and Search are DHCP options 15 and 119, NTP option 42.
	Domain string   `json:"domain,omitempty"`
	Search []string `json:"search,omitempty"`
	NTP    []string `json:"ntp,omitempty"`
	// Routes are option 121: with them clients ignore option 3, so that the default
	// route of the segment's routers is added to them.
	Routes []Route `json:"routes,omitempty"`
}

// Reservation is an address that belongs to one machine, named by at least one of its
// MAC address, its UUID, and the switch port that a relay sees it on (option 82).
type Reservation struct {
	Address string `json:"address"`
	MAC     string `json:"mac,omitempty"`
	UUID    string `json:"uuid,omitempty"`
	Port    string `json:"port,omitempty"`
}

// Route is a static route (RFC 3442).
type Route struct {
	To  string `json:"to"`
	Via string `json:"via"`
}

// ServiceIntent is a SegmentService as it travels.
type ServiceIntent struct {
	Mode          ServiceMode   `json:"mode"`
	Authoritative bool          `json:"authoritative,omitempty"`
	Reservations  []Reservation `json:"reservations,omitempty"`
	Domain        string        `json:"domain,omitempty"`
	Search        []string      `json:"search,omitempty"`
	NTP           []netip.Addr  `json:"ntp,omitempty"`
	Routes        []RouteIntent `json:"routes,omitempty"`
}

// RouteIntent is a Route as it travels.
type RouteIntent struct {
	To  netip.Prefix `json:"to"`
	Via netip.Addr   `json:"via"`
}

// checkService checks spec.service and puts it into the intent.
func (s *Segment) checkService(f *fields, in *SegmentIntent) {
	v := s.Spec.Service
	if v == nil {
		return
	}
	out := &ServiceIntent{Mode: v.Mode, Authoritative: v.Authoritative, Domain: v.Domain, Search: v.Search}
	if out.Mode == "" {
		out.Mode = ServiceFull
	}
	oneOf(f, "spec.service.mode", out.Mode, ServiceFull, ServiceReservations, ServiceProxy, ServiceNone)
	if v.Authoritative && out.Mode == ServiceProxy {
		f.Add("spec.service.authoritative", "a proxy leases nothing: remove it, or use mode full")
	}
	if len(v.Reservations) > maxReservations {
		f.Add("spec.service.reservations", "has more than %d; split the segment", maxReservations)
	}
	seen := map[string]string{}
	for i, r := range v.Reservations {
		out.Reservations = append(out.Reservations, r.check(f, fmt.Sprintf("spec.service.reservations[%d]", i), in, seen))
	}
	for i, name := range append([]string{v.Domain}, v.Search...) {
		if name != "" && !isDomain(name) {
			f.Add([]string{"spec.service.domain", "spec.service.search"}[min(i, 1)], "%q is not a domain name", name)
		}
	}
	for i, text := range v.NTP {
		a, err := netip.ParseAddr(text)
		if err != nil || !a.Is4() {
			f.Add(fmt.Sprintf("spec.service.ntp[%d]", i), "%q is not an IPv4 address", text)
		}
		out.NTP = append(out.NTP, a)
	}
	for i, r := range v.Routes {
		to, err := netip.ParsePrefix(r.To)
		if err != nil || !to.Addr().Is4() || to != to.Masked() {
			f.Add(fmt.Sprintf("spec.service.routes[%d].to", i), "%q is not an IPv4 subnet such as 10.8.0.0/16", r.To)
		}
		via, err := netip.ParseAddr(r.Via)
		if err != nil || !in.Prefix.IsValid() || !in.Prefix.Contains(via) {
			f.Add(fmt.Sprintf("spec.service.routes[%d].via", i), "%q is not an address inside %s", r.Via, in.Prefix)
		}
		out.Routes = append(out.Routes, RouteIntent{to, via})
	}
	in.Service = out
}

func (r Reservation) check(f *fields, path string, in *SegmentIntent, seen map[string]string) Reservation {
	a, err := netip.ParseAddr(r.Address)
	switch {
	case err != nil || !a.Is4():
		f.Add(path+".address", "%q is not an IPv4 address", r.Address)
	case in.Prefix.IsValid() && !in.Prefix.Contains(a):
		f.Add(path+".address", "%s is not inside %s", a, in.Prefix)
	case a == in.Address:
		f.Add(path+".address", "%s is the agent's own", a)
	}
	if r.MAC == "" && r.UUID == "" && r.Port == "" {
		f.Add(path, "names no machine: give its mac, uuid or port")
	}
	if r.MAC != "" {
		mac, err := net.ParseMAC(r.MAC)
		if err != nil || len(mac) != macBytes {
			f.Add(path+".mac", "%q is not a MAC address", r.MAC)
		} else {
			r.MAC = mac.String()
		}
	}
	r.UUID = strings.ToLower(r.UUID)
	for _, key := range []string{"address " + r.Address, "mac " + r.MAC, "uuid " + r.UUID, "port " + r.Port} {
		if strings.HasSuffix(key, " ") {
			continue
		}
		if first, twice := seen[key]; twice {
			f.Add(path, "%s is also in %s", key, first)
		}
		seen[key] = path
	}
	return r
}

// isDomain says whether a name can be sent in options 15 and 119 (RFC 1035 section
// 2.3.1).
func isDomain(name string) bool {
	if len(name) > 253 {
		return false
	}
	return !slices.ContainsFunc(strings.Split(strings.TrimSuffix(name, "."), "."), func(label string) bool {
		return label == "" || len(label) > 63 || strings.Trim(strings.ToLower(label), "abcdefghijklmnopqrstuvwxyz0123456789-") != ""
	})
}
