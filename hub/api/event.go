package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"rackboot/hub/access"
	protoapi "rackboot/protocol/api"
)

type eventInput struct {
	After uint64 `query:"after" doc:"only events with a greater index"`
	Limit int    `query:"limit" default:"100" minimum:"1" maximum:"1000" doc:"at most so many"`
}

func (a *API) registerEvents() {
	huma.Register(a.huma, a.operation(http.MethodGet, protoapi.PathEvents, "events", "Read what happened, oldest first", nil),
		func(ctx context.Context, in *eventInput) (*answer[protoapi.EventList], error) {
			list := protoapi.EventList{Items: []protoapi.EventRecord{}, Next: in.After}
			for more := true; more; { // what is not seen makes no page shorter
				want := in.Limit - len(list.Items)
				page := a.rooms.Events.After(list.Next, want)
				for _, e := range page {
					list.Next = max(list.Next, e.Index)
				}
				list.Items = append(list.Items, visible(a, caller(ctx), page, placesOfEvent)...)
				more = len(page) == want && len(list.Items) < in.Limit
			}
			return &answer[protoapi.EventList]{list}, nil
		})
}

// placesOfEvent: an event is of a server, or else of an agent's rack.
func placesOfEvent(e protoapi.EventRecord, w access.World) []access.Labels {
	if e.Server != "" {
		return []access.Labels{access.AtServer(w, e.Server)}
	}
	if a := w.(*world).agent(e.Agent); a != nil {
		return access.Places(a, w)
	}
	return nil
}

// EventLog is what happened.
type EventLog interface {
	// After returns up to limit events with an index greater than after.
	After(after uint64, limit int) []protoapi.EventRecord
}
