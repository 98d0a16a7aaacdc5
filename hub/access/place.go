package access

import (
	"maps"

	"rackboot/protocol"
)

// World is what there is, for [Places]. A name that is unknown is nil.
type World interface {
	Rack(name string) *protocol.Rack
	BMC(name string) *protocol.BMC
	Server(name string) *protocol.Server
	// Behind lists the stored servers behind a BMC.
	Behind(bmc string) []*protocol.Server
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
func Places(obj protocol.Object, w World) []Labels {
	switch o := obj.(type) {
	case *protocol.Rack:
		return []Labels{own(o.Metadata.Labels)}
	case *protocol.Segment:
		return []Labels{ofRack(w, o.Spec.RackRef.Name)}
	case *protocol.Agent:
		return []Labels{ofRack(w, o.Spec.RackRef.Name)}
	case *protocol.BMC:
		return ofBMC(w, o)
	case *protocol.Server:
		return []Labels{ofServer(w, o)}
	case *protocol.Claim:
		return []Labels{ofClaim(w, o)}
	case *protocol.Hold:
		return []Labels{AtServer(w, o.Spec.Server)}
	case *protocol.BootConfiguration:
		return []Labels{AtServer(w, o.Spec.Server)}
	case *protocol.Maintenance:
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
func Changed(old, next protocol.Object, w World) []Labels {
	places := Places(next, w)
	if old != nil {
		places = append(places, Places(old, w)...)
	}
	if s, ok := next.(*protocol.Server); ok {
		was, _ := old.(*protocol.Server)
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

func ofBMC(w World, b *protocol.BMC) (out []Labels) {
	for _, s := range w.Behind(b.Metadata.Name) {
		out = append(out, ofServer(w, s))
	}
	if len(out) == 0 {
		out = []Labels{ofRack(w, b.Spec.RackRef.Name)}
	}
	return out
}

func ofServer(w World, s *protocol.Server) Labels {
	out := Labels{}
	if b := w.BMC(s.Spec.BMCRef.Name); b != nil {
		maps.Copy(out, ofRack(w, b.Spec.RackRef.Name))
	}
	maps.Copy(out, s.Metadata.Labels)
	return out
}

// ofClaim: a selector that has a scope's labels selects nothing outside of it.
func ofClaim(w World, c *protocol.Claim) Labels {
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
