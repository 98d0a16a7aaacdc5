package api

import (
	"context"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/hub/watch"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/selector"
)

// Watches tell what changes of resources; see package watch. It is used concurrently.
type Watches interface {
	// Begin begins a watch, which must be run.
	Begin(ask watch.Ask) (*watch.Watch, error)
}

// watchInput is the query of a watch.
type watchInput struct {
	Position string `query:"position" maxLength:"512" doc:"where another watch with the same selector and field ended; without it, and where the hub does not know any more what came after it, everything is told again"`
	Selector string `query:"selector" maxLength:"2048" doc:"only those with these labels, or whose racks have them: key=value, key!=value, key, !key, key in (a,b), key notin (a,b), joined by commas"`
	Only     string `query:"only" maxLength:"2048" doc:"only these fields of each resource, as of a list; what changes besides them is not told"`
	Field    string `query:"field" maxLength:"2048" doc:"only those with these fields: path=value, path!=value, joined by commas"`
}

// watches has the routes that watch kinds.
type watches struct {
	room Watches
	lost losses
}

// register gives a kind its route.
func (ws watches) register(t *route.Table, kind resource.Kind) {
	op := t.Operation(http.MethodGet, protoapi.PathWatch(kind), "watch"+string(kind), "Watch what there is and what changes, one event a line", nil,
		route.Rule{Right: access.On(access.Read, kind), Target: route.TargetEach})
	op.Responses["200"] = &huma.Response{Description: "Events, one a line, until either side ends it", Content: map[string]*huma.MediaType{
		protoapi.WatchType: {Schema: t.Schema(reflect.TypeFor[protoapi.WatchEvent]())},
	}}
	route.Register(t, op, func(ctx context.Context, in *watchInput) (*huma.StreamResponse, error) {
		labels, fields, err := selectors("watch "+kind.Plural(), kind, in.Selector, in.Field)
		if err != nil {
			return nil, route.Problem(err)
		}
		only, err := selector.ParseOnly(in.Only, kind)
		if err != nil {
			return nil, route.Problem(protocol.Errorf(protocol.CodeInvalid, "watch "+kind.Plural(), "only: %w", err).WithHint("%s", protocol.HintOf(err)))
		}
		w, err := ws.room.Begin(watch.Ask{
			Kind: kind, Who: route.Caller(ctx), Selector: in.Selector, Field: in.Field, Labels: labels, Fields: fields, Only: only, Position: in.Position,
			Still:      func() bool { return route.Still(ctx) },
			Incomplete: func() *protoapi.Incomplete { return ws.lost.of(ctx, "res."+kind.Plural()) },
		})
		if err != nil {
			return nil, route.Problem(err)
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			hc.SetHeader("Content-Type", protoapi.WatchType)
			hc.SetHeader("Cache-Control", "no-store")
			hc.SetHeader("X-Accel-Buffering", "no") // nginx holds back what it is not told to pass on
			_, to := humago.Unwrap(hc)
			w.Run(hc.Context(), lines(to))
		}}, nil
	})
}

// lines writes lines to a reader, and fails where he takes none for long.
func lines(to http.ResponseWriter) func([][]byte) error {
	rc := http.NewResponseController(to)
	return func(lines [][]byte) error {
		_ = rc.SetWriteDeadline(time.Now().Add(watch.WriteWait)) // a writer without deadlines has none to set
		for _, l := range lines {
			if _, err := to.Write(l); err != nil {
				return err
			}
		}
		return rc.Flush()
	}
}
