package api

import (
	"slices"
	"strings"
	"time"

	"rackboot/hub/api/route"
	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// eventQuery is which events somebody asked for. The zero value asks for all.
type eventQuery struct {
	about resource.Target
	// server is that of a Claim that is asked about, and from when on its events are the claim's.
	server string
	from   time.Time
	rack   string
	codes  []string
	since  time.Time
}

// askedEvents reads a query; the code is invalid. What it names need not be there: there are events of what
// is gone, and who may not see a claim does not learn here whether it is there.
func askedEvents(in *eventInput, objects *store.Objects) (q eventQuery, err error) {
	q = eventQuery{rack: in.Rack, codes: in.Code, since: in.Since}
	for _, c := range in.Code {
		if !slices.Contains(resource.EventCodes(), resource.EventCode(c)) {
			return q, protocol.Errorf(protocol.CodeInvalid, "list events", "%q is not a code of an event", c).WithHint("the codes are in the answers; rackctl events shows them")
		}
	}
	if in.For == "" {
		return q, nil
	}
	kind, name, _ := strings.Cut(in.For, "/")
	of, ok := resource.ParseKind(kind)
	if !ok || name == "" {
		return q, protocol.Errorf(protocol.CodeInvalid, "list events", "%q is not Kind/name", in.For).WithHint("name a resource: Server/n1")
	}
	q.about = resource.Target{Kind: of, Name: name}
	if of == resource.KindServer {
		q.server = name
	}
	if of == resource.KindClaim {
		c, err := store.Get[*resource.Claim](objects, name)
		if err != nil { // it is gone, and so is what its server was
			return q, nil
		}
		if q.server = c.Status.Server; c.Metadata.CreatedAt != nil {
			q.from = *c.Metadata.CreatedAt
		}
	}
	return q, nil
}

// among takes those of a page that were asked for.
func (q eventQuery) among(page []protoapi.EventRecord, w *route.World) []protoapi.EventRecord {
	if q.about.Kind == "" && q.rack == "" && len(q.codes) == 0 && q.since.IsZero() {
		return page
	}
	out := make([]protoapi.EventRecord, 0, len(page))
	for _, e := range page {
		if !e.At.Before(q.since) && (len(q.codes) == 0 || slices.Contains(q.codes, string(e.Code))) &&
			(q.rack == "" || rackOfEvent(e, w) == q.rack) && (q.about.Kind == "" || q.isAbout(e, w)) {
			out = append(out, e)
		}
	}
	return out
}

// isAbout says whether an event is about the resource that was named.
//
//	kind   | events
//	*      | those whose target it is
//	Server | and those of the server
//	Claim  | and those of its server since it was created
//	Agent  | and those that it sent
//	Rack   | and those of its servers and agents
func (q eventQuery) isAbout(e protoapi.EventRecord, w *route.World) bool {
	switch {
	case e.Target != nil && e.Target.Kind == q.about.Kind && e.Target.Name == q.about.Name:
		return true
	case q.about.Kind == resource.KindAgent:
		return e.Agent == q.about.Name
	case q.about.Kind == resource.KindRack:
		return rackOfEvent(e, w) == q.about.Name
	}
	return q.server != "" && e.Server == q.server && !e.At.Before(q.from)
}

// rackOfEvent is the rack of an event's server, or else of its agent, as [placesOfEvent] has it.
func rackOfEvent(e protoapi.EventRecord, w *route.World) string {
	if s := w.Server(e.Server); e.Server != "" && s != nil {
		if b := w.BMC(s.Spec.BMCRef.Name); b != nil {
			return b.Spec.RackRef.Name
		}
		return ""
	}
	if e.Server != "" {
		return ""
	}
	if a := w.Agent(e.Agent); a != nil {
		return a.Spec.RackRef.Name
	}
	return ""
}
