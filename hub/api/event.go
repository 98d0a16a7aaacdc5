package api

import (
	"context"
	"net/http"
	"time"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/hub/store"
	protoapi "rackboot/protocol/api"
)

type eventInput struct {
	After uint64    `query:"after" doc:"only events with a greater index"`
	Limit int       `query:"limit" default:"100" minimum:"1" maximum:"1000" doc:"at most so many"`
	For   string    `query:"for" doc:"only those about one resource: Kind/name. Of a Claim they are also those of its server since it was created, of a Rack those of its servers and agents"`
	Rack  string    `query:"rack" doc:"only those of the rack's servers and agents"`
	Code  []string  `query:"code" maxItems:"32" doc:"only those with one of these codes"`
	Since time.Time `query:"since" doc:"only those that happened since then (RFC 3339)"`
}

// events has the log of what happened.
type events struct {
	objects *store.Objects
	log     EventLog
	lost    losses
}

func (l events) routes(t *route.Table) {
	route.Register(t, t.Operation(http.MethodGet, protoapi.PathEvents, "events", "Read what happened, oldest first", nil,
		route.Rule{Right: access.Read, Target: route.TargetEach, Heavy: true}),
		func(ctx context.Context, in *eventInput) (*answer[protoapi.EventList], error) {
			asked, err := askedEvents(in, l.objects)
			if err != nil {
				return nil, route.Problem(err)
			}
			list := protoapi.EventList{Items: []protoapi.EventRecord{}, Next: in.After, Incomplete: l.lost.of(ctx, "")}
			for more := true; more; { // what is not seen makes no page shorter
				want := in.Limit - len(list.Items)
				page := l.log.After(list.Next, want)
				for _, e := range page {
					list.Next = max(list.Next, e.Index)
				}
				more = len(page) == want
				page = asked.among(page, route.NewWorld(l.objects))
				list.Items = append(list.Items, route.Visible(l.objects, route.Caller(ctx), page, placesOfEvent)...)
				more = more && len(list.Items) < in.Limit
			}
			return &answer[protoapi.EventList]{list}, nil
		})
}

// placesOfEvent: an event is of a server, or else of an agent's rack.
func placesOfEvent(e protoapi.EventRecord, w *route.World) []access.Labels {
	if e.Server != "" {
		return []access.Labels{access.AtServer(w, e.Server)}
	}
	if a := w.Agent(e.Agent); a != nil {
		return access.Places(a, w)
	}
	return nil
}

// EventLog is what happened.
type EventLog interface {
	// After returns up to limit events with an index greater than after.
	After(after uint64, limit int) []protoapi.EventRecord
}
