package resource

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"rackboot/protocol"
)

// Segment is a network segment that an agent serves boots on.
type Segment struct {
	Header
	Spec SegmentSpec `json:"spec"`
}

// SegmentSpec is the policy of a segment. Interface and listen addresses are
// not in it: only the agent's local file may name those.
type SegmentSpec struct {
	RackRef Ref `json:"rackRef"`
	// Prefix is the subnet, such as 10.7.0.0/24.
	Prefix string `json:"prefix"`
	// Pool is the range of dynamic addresses.
	Pool Pool `json:"pool"`
	// Address is the agent's own address on the segment.
	Address string `json:"address"`
	// Routers and DNS are DHCP options 3 and 6.
	Routers []string `json:"routers,omitempty"`
	DNS     []string `json:"dns,omitempty"`
	// BaseURL is scheme and authority of boot URLs; default http://<address>. With
	// https the agent's file must name an address for it, and certificates. Its host must be an IP literal: firmware may have no resolver.
	// On a segment of role bmc it is where BMCs fetch virtual media and send events.
	BaseURL string `json:"baseURL,omitempty"`
	// LeaseTime is DHCP option 51. Default 1 h.
	LeaseTime protocol.Duration `json:"leaseTime,omitempty"`
	// Role says who is on it. Default boot.
	Role SegmentRole `json:"role,omitempty"`
	// BMCs says which BMCs to look for, on a segment of role bmc or both.
	BMCs *SegmentBMCs `json:"bmcs,omitempty"`
	// Service says how addresses are given. Without it from the pool, with boot data.
	Service *SegmentService `json:"service,omitempty"`
	// IPv6 is its IPv6 side. Without it nothing is served over IPv6.
	IPv6 *SegmentIPv6 `json:"ipv6,omitempty"`
}

// SegmentRole is who is on a segment.
type SegmentRole string

// The roles.
const (
	SegmentBoot SegmentRole = "boot" // hosts that boot
	SegmentBMC  SegmentRole = "bmc"  // BMCs; nothing boots from it
	SegmentBoth SegmentRole = "both"
)

// Pool is an inclusive range of addresses.
type Pool struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// SegmentIntent is what an agent needs to serve one boot segment: the parsed
// spec of a Segment as it travels in a RackDoc.
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
	// Role is boot where it is empty.
	Role SegmentRole `json:"role,omitempty"`
	// BMCPrefixes are MAC prefixes, each whole bytes; Scan are subnets.
	BMCPrefixes []string       `json:"bmcPrefixes,omitempty"`
	Scan        []netip.Prefix `json:"scan,omitempty"`
	// BMCMACs are of accepted BMCs whose address is that of their lease.
	BMCMACs []string `json:"bmcMACs,omitempty"`
	// Try is the Segment's [AnnotationTry]: another value makes another content.
	Try string `json:"try,omitempty"`
	// Service is nil for full service without reservations.
	Service *ServiceIntent `json:"service,omitempty"`
	// IPv6 is nil where nothing is served over IPv6.
	IPv6 *SegmentIPv6Intent `json:"ipv6,omitempty"`
}

// BootsHosts and HasBMCs say who may be on a segment of the role. An empty role is
// boot.
func (r SegmentRole) BootsHosts() bool { return r != SegmentBMC }

// HasBMCs says whether BMCs are looked for.
func (r SegmentRole) HasBMCs() bool { return r == SegmentBMC || r == SegmentBoth }

// Default fills the role, the lease time and, where hosts boot, the base URL.
func (s *Segment) Default() {
	s.APIVersion, s.Kind = APIVersion, KindSegment
	if s.Spec.Role == "" {
		s.Spec.Role = SegmentBoot
	}
	if s.Spec.BaseURL == "" && s.Spec.Address != "" && s.Spec.Role.BootsHosts() {
		s.Spec.BaseURL = "http://" + s.Spec.Address
	}
	setDuration(&s.Spec.LeaseTime, time.Hour)
	if s.Spec.IPv6 != nil {
		s.Spec.IPv6.defaults(s.Spec.Role)
	}
	if s.Spec.BMCs != nil {
		for i, p := range s.Spec.BMCs.MACPrefixes {
			s.Spec.BMCs.MACPrefixes[i] = strings.ToLower(strings.ReplaceAll(p, "-", ":"))
		}
	}
}

// References names the rack.
func (s *Segment) References() []Reference {
	refs := []Reference{{"spec.rackRef.name", KindRack, s.Spec.RackRef.Name}}
	if b := s.Spec.BMCs; b != nil && b.Accept != nil {
		refs = append(refs, secretReference("spec.bmcs.accept.credentialsRef", b.Accept.CredentialsRef)...)
	}
	return refs
}

// Validate reports wrong fields.
func (s *Segment) Validate() protocol.FieldErrors {
	_, f := s.Intent()
	return f
}

// Intent parses the spec; the FieldErrors say what is wrong with it.
func (s *Segment) Intent() (SegmentIntent, protocol.FieldErrors) {
	var f fields
	s.check(&f)
	f.name("spec.rackRef.name", s.Spec.RackRef.Name)
	in := SegmentIntent{Name: s.Metadata.Name, BaseURL: s.Spec.BaseURL, LeaseTime: s.Spec.LeaseTime.D(), Role: s.Spec.Role, Try: s.Metadata.Annotations[AnnotationTry]}
	if in.Role == "" {
		in.Role = SegmentBoot
	}
	if len(in.Try) > maxTry {
		f.Add("metadata.annotations["+AnnotationTry+"]", "is longer than %d bytes", maxTry)
	}
	oneOf(&f, "spec.role", in.Role, SegmentBoot, SegmentBMC, SegmentBoth)
	p, err := netip.ParsePrefix(s.Spec.Prefix)
	if err != nil || !p.Addr().Is4() || p != p.Masked() {
		f.Add("spec.prefix", "%q is not an IPv4 subnet such as 10.7.0.0/24", s.Spec.Prefix)
	}
	in.Prefix = p
	inside := func(path, text string) netip.Addr {
		a, err := netip.ParseAddr(text)
		if err != nil || !a.Is4() {
			f.Add(path, "%q is not an IPv4 address", text)
			return netip.Addr{}
		}
		if in.Prefix.IsValid() && !in.Prefix.Contains(a) {
			f.Add(path, "%s is not inside %s", a, in.Prefix)
		}
		return a
	}
	in.Address = inside("spec.address", s.Spec.Address)
	in.PoolFrom = inside("spec.pool.from", s.Spec.Pool.From)
	in.PoolTo = inside("spec.pool.to", s.Spec.Pool.To)
	if in.PoolFrom.IsValid() && in.PoolTo.IsValid() {
		if in.PoolTo.Less(in.PoolFrom) {
			f.Add("spec.pool.to", "%s is before %s", in.PoolTo, in.PoolFrom)
		}
		if in.Address.IsValid() && !in.Address.Less(in.PoolFrom) && !in.PoolTo.Less(in.Address) {
			f.Add("spec.address", "%s is inside the pool", in.Address)
		}
	}
	list := func(path string, texts []string) (out []netip.Addr) {
		for i, t := range texts {
			a, err := netip.ParseAddr(t)
			if err != nil || !a.Is4() {
				f.Add(fmt.Sprintf("%s[%d]", path, i), "%q is not an IPv4 address", t)
				continue
			}
			out = append(out, a)
		}
		return out
	}
	in.Routers = list("spec.routers", s.Spec.Routers)
	in.DNS = list("spec.dns", s.Spec.DNS)
	s.checkBaseURL(&f)
	f.between("spec.leaseTime", s.Spec.LeaseTime, time.Minute, 30*24*time.Hour)
	s.checkBMCs(&f, &in)
	s.checkService(&f, &in)
	s.checkIPv6(&f, &in)
	return in, f.FieldErrors
}

func (s *Segment) checkBaseURL(f *fields) {
	if !s.Spec.Role.BootsHosts() && s.Spec.BaseURL == "" {
		return
	}
	u, err := url.Parse(s.Spec.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Path != "" || u.RawQuery != "" {
		f.Add("spec.baseURL", "%q is not scheme and authority such as http://10.7.0.1:8080", s.Spec.BaseURL)
	} else if _, err := netip.ParseAddr(u.Hostname()); err != nil {
		f.Add("spec.baseURL", "host %q is not an IP literal; firmware may have no resolver", u.Hostname())
	}
}
