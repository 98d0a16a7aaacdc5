package selector

import (
	"maps"

	"rackboot/protocol/resource"
)

// Site knows where servers and segments are. What it does not know is empty.
type Site interface {
	// SegmentRack returns the rack of a segment.
	SegmentRack(segment string) string
	// ServerSegment returns the segment of a server.
	ServerSegment(server string) string
}

// RackOf returns the rack of a resource; empty where it is in none, or the site does not know it.
//
//	kind                                        | rack
//	Rack                                        | itself
//	Agent, Segment, BMC                         | that which it names
//	Server                                      | that of its segment
//	Claim, Hold, Maintenance, BootConfiguration | that of its server
func RackOf(o resource.Object, site Site) string {
	switch o := o.(type) {
	case *resource.Rack:
		return o.Metadata.Name
	case *resource.Agent:
		return o.Spec.RackRef.Name
	case *resource.Segment:
		return o.Spec.RackRef.Name
	case *resource.BMC:
		return o.Spec.RackRef.Name
	case *resource.Server:
		return site.SegmentRack(o.Spec.SegmentRef.Name)
	case *resource.Claim:
		return rackOfServer(serverOf(o), site)
	case *resource.Hold:
		if o.Status.Rack != "" {
			return o.Status.Rack
		}
		return rackOfServer(o.Spec.Server, site)
	case *resource.Maintenance:
		return rackOfServer(o.Spec.ServerRef.Name, site)
	case *resource.BootConfiguration:
		return rackOfServer(o.Spec.Server, site)
	}
	return ""
}

func rackOfServer(name string, site Site) string {
	if name == "" {
		return ""
	}
	return site.SegmentRack(site.ServerSegment(name))
}

func serverOf(c *resource.Claim) string {
	if c.Status.Server == "" && c.Spec.ServerRef != nil {
		return c.Spec.ServerRef.Name
	}
	return c.Status.Server
}

// Labels returns the labels that selectors look at: those of the resource, and those of its rack that it
// has none of. A scope counts the labels of servers alike. The map is the caller's.
func Labels(o resource.Object, rack map[string]string) map[string]string {
	out := maps.Clone(rack)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, o.Head().Metadata.Labels)
	return out
}
