package resource

import (
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net/netip"
	"strings"
)

const (
	// MaxScan bounds the addresses that one segment's scan asks.
	MaxScan = 1024
	// minPrefixBytes of a MAC address name its maker.
	minPrefixBytes = 3
	macBytes       = 6
)

// SegmentBMCs says which BMCs an agent looks for on a segment. Whoever is found is
// Pending until it is accepted.
type SegmentBMCs struct {
	// MACPrefixes are of BMCs that get a lease without being known, such as 3c:ec:ef:
	// whole bytes, at least three.
	MACPrefixes []string `json:"macPrefixes,omitempty"`
	// Scan are prefixes inside the segment's in which each address is asked for its
	// service root, at most 1,024 addresses in all.
	Scan []string `json:"scan,omitempty"`
	// Accept makes BMCs that are found by a prefix of MACPrefixes accepted at once.
	Accept *AcceptRule `json:"accept,omitempty"`
}

// AcceptRule says with what a found BMC is accepted.
type AcceptRule struct {
	CredentialsRef string `json:"credentialsRef"`
	// CA is PEM that their certificates must be of. Without it, TrustFirst pins the
	// certificate that each showed when it was found.
	CA         string `json:"ca,omitempty"`
	TrustFirst bool   `json:"trustFirst,omitempty"`
}

// HasMAC says whether one of the prefixes is of the address, which is in the form
// 02:00:00:00:00:01.
func (b *SegmentBMCs) HasMAC(mac string) bool {
	if b == nil || mac == "" {
		return false
	}
	for _, p := range b.MACPrefixes {
		if mac == p || strings.HasPrefix(mac, p+":") {
			return true
		}
	}
	return false
}

// checkBMCs checks spec.bmcs and puts it into the intent.
func (s *Segment) checkBMCs(f *fields, in *SegmentIntent) {
	b := s.Spec.BMCs
	if b == nil {
		return
	}
	if !in.Role.HasBMCs() {
		f.Add("spec.bmcs", "BMCs are looked for on segments of role bmc or both, not %s", in.Role)
	}
	for i, p := range b.MACPrefixes {
		path := fmt.Sprintf("spec.bmcs.macPrefixes[%d]", i)
		raw := prefixBytes(p)
		if len(raw) < minPrefixBytes || len(raw) > macBytes {
			f.Add(path, "%q is not the beginning of a MAC address in whole bytes, at least three, such as 3c:ec:ef", p)
		} else if raw[0]&1 == 1 {
			f.Add(path, "%s is of group addresses, not of interfaces", p)
		}
		in.BMCPrefixes = append(in.BMCPrefixes, p)
	}
	in.Scan = b.checkScan(f, in.Prefix)
	if b.Accept != nil {
		b.checkAccept(f)
	}
}

// prefixBytes are those of a prefix such as 3c:ec:ef; nil if it has another form.
func prefixBytes(p string) (out []byte) {
	for digits := range strings.SplitSeq(p, ":") {
		raw, err := hex.DecodeString(digits)
		if err != nil || len(raw) != 1 {
			return nil
		}
		out = append(out, raw...)
	}
	return out
}

func (b *SegmentBMCs) checkScan(f *fields, segment netip.Prefix) (out []netip.Prefix) {
	addresses := 0
	for i, text := range b.Scan {
		path := fmt.Sprintf("spec.bmcs.scan[%d]", i)
		p, err := netip.ParsePrefix(text)
		switch {
		case err != nil || !p.Addr().Is4() || p != p.Masked():
			f.Add(path, "%q is not an IPv4 subnet such as 10.7.0.128/26", text)
			continue
		case segment.IsValid() && (p.Bits() < segment.Bits() || !segment.Contains(p.Addr())):
			f.Add(path, "%s is not inside of the segment's %s", p, segment)
			continue
		case p.Bits() < 16: // so that the sum below cannot overflow
			addresses = MaxScan + 1
		default:
			addresses += 1 << (32 - p.Bits())
		}
		out = append(out, p)
	}
	if addresses > MaxScan {
		f.Add("spec.bmcs.scan", "there are more than %d addresses in it; list smaller subnets", MaxScan)
	}
	return out
}

func (b *SegmentBMCs) checkAccept(f *fields) {
	a := b.Accept
	if len(b.MACPrefixes) == 0 {
		f.Add("spec.bmcs.accept", "it is for BMCs with a prefix of macPrefixes only; give those, or remove it and use rackctl bmc accept")
	}
	f.credentialsRef("spec.bmcs.accept.credentialsRef", a.CredentialsRef)
	switch {
	case a.CA == "" && !a.TrustFirst:
		f.Add("spec.bmcs.accept", "give a ca, or trustFirst: true to pin the certificate that each shows when it is found")
	case a.CA != "" && a.TrustFirst:
		f.Add("spec.bmcs.accept.trustFirst", "a ca is given too; remove one of the two")
	case a.CA != "":
		if block, _ := pem.Decode([]byte(a.CA)); block == nil || block.Type != "CERTIFICATE" {
			f.Add("spec.bmcs.accept.ca", "is not a PEM certificate")
		}
	}
}
