package resource

import "fmt"

// Reach is how a server's firmware comes to its boot files.
type Reach string

// The ways.
const (
	// ReachSegment: firmware asks by DHCP on the server's segment, where the agent
	// answers.
	ReachSegment Reach = "segment"
	// ReachURI: nobody of ours answers its DHCP, and firmware is given the URL through the
	// BMC (Boot.HttpBootUri). Its address it has from somebody else, or from its setup.
	ReachURI Reach = "uri"
	// ReachVMedia: firmware comes to nothing of ours, and the BMC gives it a drive.
	ReachVMedia Reach = "vmedia"
)

// reaches lists the ways.
var reaches = []Reach{ReachSegment, ReachURI, ReachVMedia}

// Or is the default for none.
func (r Reach) Or() Reach {
	if r == "" {
		return ReachSegment
	}
	return r
}

// carried says whether a first boot comes to a server, or why not.
type carried string

const (
	carriedYes    carried = "yes"
	carriedMedia  carried = "media"  // the BMC's drive alone comes to it
	carriedURL    carried = "url"    // firmware that asks nobody does no PXE
	carriedSilent carried = "silent" // nobody answers on the segment
)

// carryRule says whether a first boot comes to a server. The first row that fits
// decides.
//
//	reach   | first boot   | answers | carried
//	*       | VirtualMedia | *       | yes
//	vmedia  | *            | *       | media
//	uri     | Pxe          | *       | url
//	uri     | UefiHttp     | *       | yes
//	segment | *            | yes     | yes
//	segment | *            | no      | silent
//
// answers is that the agent's DHCP server speaks on the server's segment.
func carryRule(r Reach, f FirstBoot, answers bool) carried {
	switch {
	case f == FirstBootVirtualMedia:
		return carriedYes
	case r == ReachVMedia:
		return carriedMedia
	case r == ReachURI && f == FirstBootPxe:
		return carriedURL
	case r == ReachURI:
		return carriedYes
	case answers:
		return carriedYes
	default:
		return carriedSilent
	}
}

// CannotBoot says why a server cannot be booted by a first boot's method, and what to do;
// empty if it can. seg is the server's segment; nil is one that is not known.
func (s *Server) CannotBoot(f FirstBoot, seg *Segment) string {
	name := s.Metadata.Name
	switch carryRule(s.Spec.Reach.Or(), f, seg == nil || seg.answers()) {
	case carriedYes:
	case carriedMedia:
		return fmt.Sprintf("server %s has reach vmedia, so that its firmware asks nobody for %s; use VirtualMedia", name, f)
	case carriedURL:
		return fmt.Sprintf("server %s has reach uri, and PXE finds its boot file by DHCP on a segment; use UefiHttp or VirtualMedia, or give it reach segment", name)
	case carriedSilent:
		return fmt.Sprintf("nobody answers the DHCP of server %s: its segment %s has service mode none; use VirtualMedia, or service mode full, reservations or proxy", name, seg.Metadata.Name)
	}
	return ""
}

// answers says whether the agent's DHCP server speaks on the segment, by IPv4 or IPv6.
func (s *Segment) answers() bool {
	four := s.Spec.Service == nil || s.Spec.Service.Mode != ServiceNone
	six := s.Spec.IPv6 != nil && s.Spec.IPv6.Mode != IPv6None
	return four || six
}
