package resource

import (
	"fmt"
	"net/netip"
	"net/url"
	"time"

	"rackboot/protocol"
)

// IPv6Mode is what the agent's DHCPv6 server does on a segment.
type IPv6Mode string

// The modes.
const (
	IPv6Stateful  IPv6Mode = "stateful"  // leases from the pool and boot data
	IPv6Stateless IPv6Mode = "stateless" // boot data for who has an address already (RFC 8415 section 6.1)
	IPv6None      IPv6Mode = "none"      // silence
)

// hostBits64 is the part of an address that a pool may range over: a /64.
const hostBits64 = 8

// SegmentIPv6 is the IPv6 side of a segment. The routers of the segment advertise its
// prefix and themselves; the agent does not (RFC 4861): without their advertisements
// firmware has no route and boots nothing.
type SegmentIPv6 struct {
	// Mode is stateful by default.
	Mode IPv6Mode `json:"mode,omitempty"`
	// Prefix is the subnet, such as 2001:db8:20::/64.
	Prefix string `json:"prefix"`
	// Pool is the range of leases, within one /64. Only a stateful service has one.
	Pool *Pool `json:"pool,omitempty"`
	// Address is the agent's own address on the segment, and not a link-local one: a
	// URL cannot name the interface.
	Address string `json:"address"`
	// DNS is option 23; the address stands in where it is empty.
	DNS []string `json:"dns,omitempty"`
	// BaseURL is scheme and authority of boot URLs; default http://[<address>]. Its host
	// must be an IPv6 literal.
	BaseURL string `json:"baseURL,omitempty"`
	// LeaseTime is the valid lifetime of leases. Default 1 h.
	LeaseTime protocol.Duration `json:"leaseTime,omitempty"`
	// RapidCommit allows the exchange of two messages (RFC 8415 section 18.3.1).
	RapidCommit bool `json:"rapidCommit,omitempty"`
}

// SegmentIPv6Intent is a SegmentIPv6 as it travels.
type SegmentIPv6Intent struct {
	Mode   IPv6Mode     `json:"mode"`
	Prefix netip.Prefix `json:"prefix"`
	// PoolFrom and PoolTo bound the leases, both inclusive. They are the zero Addr where
	// nothing is leased.
	PoolFrom    netip.Addr    `json:"poolFrom,omitzero"`
	PoolTo      netip.Addr    `json:"poolTo,omitzero"`
	Address     netip.Addr    `json:"address"`
	DNS         []netip.Addr  `json:"dns,omitempty"`
	BaseURL     string        `json:"baseURL,omitempty"`
	LeaseTime   time.Duration `json:"leaseTime"`
	RapidCommit bool          `json:"rapidCommit,omitempty"`
}

// defaults fills the mode, the lease time and, where hosts boot, the base URL.
func (v *SegmentIPv6) defaults(role SegmentRole) {
	if v.Mode == "" {
		v.Mode = IPv6Stateful
	}
	if v.BaseURL == "" && v.Address != "" && role.BootsHosts() {
		v.BaseURL = "http://[" + v.Address + "]"
	}
	setDuration(&v.LeaseTime, time.Hour)
}

// checkIPv6 checks spec.ipv6 and puts it into the intent.
func (s *Segment) checkIPv6(f *fields, in *SegmentIntent) {
	v := s.Spec.IPv6
	if v == nil {
		return
	}
	out := &SegmentIPv6Intent{Mode: v.Mode, BaseURL: v.BaseURL, LeaseTime: v.LeaseTime.D(), RapidCommit: v.RapidCommit}
	if out.Mode == "" {
		out.Mode = IPv6Stateful
	}
	oneOf(f, "spec.ipv6.mode", out.Mode, IPv6Stateful, IPv6Stateless, IPv6None)
	p, err := netip.ParsePrefix(v.Prefix)
	if err != nil || !unicast6(p.Addr()) || p != p.Masked() || p.Bits() > maxPrefix6 {
		f.Add("spec.ipv6.prefix", "%q is not an IPv6 subnet such as 2001:db8:20::/64", v.Prefix)
	} else {
		out.Prefix = p
	}
	out.Address = out.inside(f, "spec.ipv6.address", v.Address)
	v.checkPool(f, out)
	for i, text := range v.DNS {
		a, err := netip.ParseAddr(text)
		if err != nil || !unicast6(a) {
			f.Add(fmt.Sprintf("spec.ipv6.dns[%d]", i), "%q is not an IPv6 address of a server, or is link-local", text)
		}
		out.DNS = append(out.DNS, a)
	}
	v.checkBaseURL(f, s.Spec.Role)
	f.between("spec.ipv6.leaseTime", v.LeaseTime, time.Minute, 30*24*time.Hour)
	in.IPv6 = out
}

// maxPrefix6 leaves room for a router, the agent and one lease.
const maxPrefix6 = 126

// unicast6 says that an address is of one host, wherever it is asked from: IPv6,
// without a zone, and not link-local.
func unicast6(a netip.Addr) bool {
	return a.Is6() && !a.Is4In6() && a.Zone() == "" && !a.IsUnspecified() && !a.IsLoopback() && !a.IsMulticast() && !a.IsLinkLocalUnicast()
}

// inside reads an address of the subnet. The zero Addr is one that is wrong.
func (in *SegmentIPv6Intent) inside(f *fields, path, text string) netip.Addr {
	a, err := netip.ParseAddr(text)
	switch {
	case err != nil || !a.Is6() || a.Is4In6() || a.Zone() != "":
		f.Add(path, "%q is not an IPv6 address", text)
	case a.IsLinkLocalUnicast():
		f.Add(path, "%s is link-local, and a URL cannot name the interface: give the agent an address of the prefix", a)
	case in.Prefix.IsValid() && !in.Prefix.Contains(a):
		f.Add(path, "%s is not inside %s", a, in.Prefix)
	case a == in.Prefix.Addr():
		f.Add(path, "%s is the address of any router on the link (RFC 4291 section 2.6.1)", a)
	default:
		return a
	}
	return netip.Addr{}
}

func (v *SegmentIPv6) checkPool(f *fields, in *SegmentIPv6Intent) {
	switch {
	case v.Pool == nil && in.Mode == IPv6Stateful:
		f.Add("spec.ipv6.pool", "a stateful service leases addresses: give from and to, or use mode stateless")
		return
	case v.Pool == nil:
		return
	case in.Mode == IPv6Stateless:
		f.Add("spec.ipv6.pool", "a stateless service leases nothing: remove it, or use mode stateful")
		return
	}
	in.PoolFrom = in.inside(f, "spec.ipv6.pool.from", v.Pool.From)
	in.PoolTo = in.inside(f, "spec.ipv6.pool.to", v.Pool.To)
	if !in.PoolFrom.IsValid() || !in.PoolTo.IsValid() {
		return
	}
	from, to := in.PoolFrom.As16(), in.PoolTo.As16()
	switch {
	case in.PoolTo.Less(in.PoolFrom):
		f.Add("spec.ipv6.pool.to", "%s is before %s", in.PoolTo, in.PoolFrom)
	case [hostBits64]byte(from[:hostBits64]) != [hostBits64]byte(to[:hostBits64]):
		f.Add("spec.ipv6.pool.to", "%s is in another /64 than %s", in.PoolTo, in.PoolFrom)
	case in.Address.IsValid() && !in.Address.Less(in.PoolFrom) && !in.PoolTo.Less(in.Address):
		f.Add("spec.ipv6.address", "%s is inside the pool", in.Address)
	}
}

func (v *SegmentIPv6) checkBaseURL(f *fields, role SegmentRole) {
	const path = "spec.ipv6.baseURL"
	if !role.BootsHosts() {
		if v.BaseURL != "" {
			f.Add(path, "nothing boots from a segment of role bmc; remove it, or use role both")
		}
		return
	}
	if v.BaseURL == "" {
		return // before Default, or without an address, which is told
	}
	u, err := url.Parse(v.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Path != "" || u.RawQuery != "" {
		f.Add(path, "%q is not scheme and authority such as http://[2001:db8:20::2]:8080", v.BaseURL)
		return
	}
	if a, err := netip.ParseAddr(u.Hostname()); err != nil || !unicast6(a) {
		f.Add(path, "host %q is not an IPv6 literal that every host of the segment reaches: firmware that boots over IPv6 has no other addresses", u.Hostname())
	}
}
