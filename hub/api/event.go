package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	protoapi "rackboot/protocol/api"
)

type eventInput struct {
	After uint64 `query:"after" doc:"only events with a greater index"`
	Limit int    `query:"limit" default:"100" minimum:"1" maximum:"1000" doc:"at most so many"`
}

func (a *API) registerEvents() {
	huma.Register(a.huma, a.operation(http.MethodGet, protoapi.PathEvents, "events", "Read what happened, oldest first", nil),
		func(_ context.Context, in *eventInput) (*answer[protoapi.EventList], error) {
			list := protoapi.EventList{Items: a.fleet.Events(in.After, in.Limit), Next: in.After}
			if list.Items == nil {
				list.Items = []protoapi.EventRecord{}
			}
			for _, e := range list.Items {
				list.Next = max(list.Next, e.Index)
			}
			return &answer[protoapi.EventList]{list}, nil
		})
}
