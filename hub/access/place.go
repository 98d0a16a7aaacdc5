package access

import (
	"maps"

	"rackboot/protocol/resource"
)

// World is what there is, for [Places]. A name that is unknown is nil.
type World interface {
	Rack(name string) *resource.Rack
	BMC(name string) *resource.BMC
	Server(name string) *resource.Server
	// Behind lists the stored servers behind a BMC.
	Behind(bmc string) []*resource.Server
}

// Places is where a resource is: the labels of every server, or else rack, that it is
// of, that it names, or that it may come to. What a scope has to do with other labels
// of a resource is nothing: whoever may write it could give it any.
//
//	kind              | places
//	Rack              | its own labels
//	Segment, Agent    | its rack
//	BMC               | each server behind it; its rack if there is none
//	Server            | its own labels, and its rack's that it has none of
//	Claim             | its server; without one that which it names, or its selector
//	Hold              | its server
//	BootConfiguration | its server
//	Maintenance       | its server
//
// Any other kind is nowhere.
func Places(obj resource.Object, w World) []Labels {
	switch o := obj.(type) {
	case *resource.Rack:
		return []Labels{own(o.Metadata.Labels)}
	case *resource.Segment:
		return []Labels{ofRack(w, o.Spec.RackRef.Name)}
	case *resource.Freeze:
		if o.Spec.RackRef == nil {
			return nil // of servers anywhere
		}
		return []Labels{ofRack(w, o.Spec.RackRef.Name)}
	case *resource.Agent:
		return []Labels{ofRack(w, o.Spec.RackRef.Name)}
	case *resource.BMC:
		return ofBMC(w, o)
	case *resource.Server:
		return []Labels{ofServer(w, o)}
	case *resource.Claim:
		return []Labels{ofClaim(w, o)}
	case *resource.Hold:
		return []Labels{AtServer(w, o.Spec.Server)}
	case *resource.BootConfiguration:
		return []Labels{AtServer(w, o.Spec.Server)}
	case *resource.Maintenance:
		return []Labels{AtServer(w, o.Spec.ServerRef.Name)}
	}
	return nil
}

// AtServer is the place of a server by its name.
func AtServer(w World, name string) Labels {
	s := w.Server(name)
	if s == nil {
		return nil
	}
	return ofServer(w, s)
}

// Changed is where a change is that makes next of old, which is nil for a new one: both
// count, so that nothing is taken out of a scope or into one. A server that comes to a
// BMC counts where that BMC is: a label of its own would let anybody have any machine.
func Changed(old, next resource.Object, w World) []Labels {
	places := Places(next, w)
	if old != nil {
		places = append(places, Places(old, w)...)
	}
	if s, ok := next.(*resource.Server); ok {
		was, _ := old.(*resource.Server)
		if was == nil || was.Spec.BMCRef != s.Spec.BMCRef || was.Spec.SystemURI != s.Spec.SystemURI {
			places = append(places, behind(w, s.Spec.BMCRef.Name)...)
		}
	}
	return places
}

func behind(w World, bmc string) []Labels {
	b := w.BMC(bmc)
	if b == nil {
		return []Labels{nil}
	}
	return ofBMC(w, b)
}

// own are labels that are known, also if there are none.
func own(l Labels) Labels {
	if l == nil {
		return Labels{}
	}
	return l
}

func ofRack(w World, name string) Labels {
	r := w.Rack(name)
	if r == nil {
		return nil
	}
	return own(r.Metadata.Labels)
}

func ofBMC(w World, b *resource.BMC) (out []Labels) {
	for _, s := range w.Behind(b.Metadata.Name) {
		out = append(out, ofServer(w, s))
	}
	if len(out) == 0 {
		out = []Labels{ofRack(w, b.Spec.RackRef.Name)}
	}
	return out
}

func ofServer(w World, s *resource.Server) Labels {
	out := Labels{}
	if b := w.BMC(s.Spec.BMCRef.Name); b != nil {
		maps.Copy(out, ofRack(w, b.Spec.RackRef.Name))
	}
	maps.Copy(out, s.Metadata.Labels)
	return out
}

// ofClaim: a selector that has a scope's labels selects nothing outside of it; its expressions take more away, and
// are not counted.
func ofClaim(w World, c *resource.Claim) Labels {
	switch {
	case c.Status.Server != "":
		return AtServer(w, c.Status.Server)
	case c.Spec.ServerRef != nil:
		return AtServer(w, c.Spec.ServerRef.Name)
	case c.Spec.ServerSelector != nil:
		return own(c.Spec.ServerSelector.MatchLabels)
	}
	return nil
}
