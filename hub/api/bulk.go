package api

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/hub/bulk"
	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/selector"
)

type bulkID struct {
	ID string `path:"id" doc:"of the bulk operation"`
}

// bulks takes bulk operations.
type bulks struct {
	room  *bulk.Room
	kinds resources
	newID func() string
	lost  losses
}

func (b bulks) routes(t *route.Table) {
	op := t.Operation(http.MethodPost, protoapi.PathBulk, "createBulk",
		"Hold, release, reboot or power off many; the hub works it off", reflect.TypeFor[protoapi.BulkRequest](),
		route.Rule{Right: access.Request, Target: route.TargetEach, Noted: "bulk"})
	route.Register(t, op, b.create)
	route.Register(t, t.Operation(http.MethodGet, protoapi.PathBulk, "listBulk", "List the caller's bulk operations, an admin's has all, the oldest first", nil,
		route.Rule{Right: access.Read, Target: route.TargetEach, Heavy: true}),
		func(ctx context.Context, _ *struct{}) (*answer[protoapi.BulkList], error) {
			return &answer[protoapi.BulkList]{protoapi.BulkList{Items: b.room.List(route.Caller(ctx)), Incomplete: b.lost.of(ctx, "bulk")}}, nil
		})
	route.Register(t, t.Operation(http.MethodGet, protoapi.PathBulk+"/{id}", "getBulk", "Read one bulk operation and what became of each", nil,
		route.Rule{Right: access.Read, Target: route.TargetEach}),
		func(ctx context.Context, in *bulkID) (*answer[protoapi.BulkStatus], error) {
			return bulkAnswer(b.room.Get(route.Caller(ctx), in.ID))
		})
	route.Register(t, t.Operation(http.MethodPost, protoapi.PathBulk+"/{id}/cancel", "cancelBulk", "Have those not be tried that were not; idempotent", nil,
		route.Rule{Right: access.Request, Target: route.TargetEach, Noted: "cancel"}),
		func(ctx context.Context, in *bulkID) (*answer[protoapi.BulkStatus], error) {
			who := route.Caller(ctx)
			if _, err := b.room.Get(who, in.ID); err != nil {
				return nil, route.Problem(err)
			}
			return bulkAnswer(b.room.Cancel(ctx, in.ID, who.Name))
		})
}

func bulkAnswer(s protoapi.BulkStatus, err error) (*answer[protoapi.BulkStatus], error) {
	if err != nil {
		return nil, route.Problem(err)
	}
	return &answer[protoapi.BulkStatus]{s}, nil
}

func (b bulks) create(ctx context.Context, in *bodyInput) (*answer[protoapi.BulkStatus], error) {
	var req protoapi.BulkRequest
	if err := route.Body("bulk", in.RawBody, &req); err != nil {
		return nil, err
	}
	id := strings.ToLower(b.newID())
	right, kind, body, err := bulkBody(id, &req)
	if err != nil {
		return nil, route.Problem(err)
	}
	who := route.Caller(ctx)
	names, err := b.names(ctx, who, kind, req)
	if err != nil {
		return nil, route.Problem(err)
	}
	w := route.NewWorld(b.kinds.store.Objects)
	for _, name := range names {
		var places []access.Labels
		if obj, err := b.kinds.store.Objects.Get(kind, name); err == nil {
			places = access.Places(obj, w)
		}
		if v := access.May(who, right, access.Target{Places: places}); v != access.Allowed {
			return nil, route.Problem(route.Denied(who, right, v, string(kind)+" "+name))
		}
	}
	return bulkAnswer(b.room.Accept(ctx, who, store.StoredBulk{
		ID: id, Action: string(req.Action), Body: body, Parallel: req.Parallel, StopAfter: req.StopAfter,
	}, names))
}

// bulkBody is the body of the request for each, with the right that it needs and the kind of what is named. It fills in what was
// left out.
func bulkBody(id string, req *protoapi.BulkRequest) (right access.Operation, kind resource.Kind, body []byte, err error) {
	var wrong protocol.FieldErrors
	say := func(is bool, path, message string) {
		if is {
			wrong = append(wrong, protocol.FieldError{Path: path, Message: message})
		}
	}
	if req.Parallel == 0 {
		req.Parallel = protoapi.DefaultBulkParallel
	}
	say(req.Parallel < 1 || req.Parallel > protoapi.MaxBulkParallel, "parallel", "is not 1 to 50")
	say(req.StopAfter < 0, "stopAfter", "is below 0")
	say((len(req.Names) > 0) == (req.Selector != ""), "names, selector", "need one of both")
	right, kind = access.Request, resource.KindServer
	var of any
	switch req.Action {
	case protoapi.BulkHold:
		right = access.Hold
		say(req.Hold == nil || req.Hold.Key == "", "hold.key", "is empty")
		say(req.Release != nil || req.Request != nil, "release, request", "are of other actions")
		of = req.Hold
	case protoapi.BulkRelease:
		right, kind = access.Release, resource.KindHold
		say(req.Selector != "", "selector", "is of servers, and a release names holds")
		say(req.Hold != nil || req.Request != nil, "hold, request", "are of other actions")
		if req.Release == nil {
			req.Release = &protoapi.ReleaseRequest{}
		}
		of = req.Release
	case protoapi.BulkReboot, protoapi.BulkPowerOff:
		one := protoapi.RebootRequest{}
		if req.Request != nil {
			one = *req.Request
		}
		say(req.Hold != nil || req.Release != nil, "hold, release", "are of other actions")
		say(one.Action != "", "request.action", "is the bulk operation's")
		say(strings.HasPrefix(one.Ref, bulk.Ref("")), "request.ref", "begins as those that the hub gives")
		one.Action, one.Ref = resource.RequestAction(req.Action), cmp.Or(one.Ref, bulk.Ref(id))
		of = one
	default:
		say(true, "action", "is not one of hold, release, reboot, power-off")
	}
	if len(wrong) > 0 {
		return "", "", nil, protocol.Errorf(protocol.CodeInvalid, "bulk", "%w", wrong).WithHint("correct the fields that are named")
	}
	if body, err = json.Marshal(of); err != nil {
		return "", "", nil, protocol.Errorf(protocol.CodeInternal, "bulk", "%w", err)
	}
	return right, kind, body, nil
}

// names are those that are meant, once each. What is selected is what the caller sees.
func (b bulks) names(ctx context.Context, who access.Caller, kind resource.Kind, req protoapi.BulkRequest) ([]string, error) {
	const op = "bulk"
	names := req.Names
	for _, n := range names {
		if n == "" || len(n) > 253 {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "%.64q is no name", n).WithHint("name servers, of a release holds")
		}
	}
	if req.Selector != "" {
		s, err := selector.Parse(req.Selector)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "selector: %w", err).WithHint("%s", protocol.HintOf(err))
		}
		l := lister[*resource.Server]{resources: b.kinds, who: who, world: route.NewWorld(b.kinds.store.Objects)}
		l.labels = s
		for srv := range l.each(ctx) {
			if l.sees(srv) && s.Matches(selector.Labels(srv, l.rackLabels(srv))) {
				names = append(names, srv.Metadata.Name)
			}
		}
	}
	seen := make(map[string]bool, len(names))
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		again := seen[n]
		seen[n] = true
		return again
	})
	switch {
	case len(names) == 0:
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "nothing is selected").WithHint("rackctl get servers with the same selector shows what is")
	case len(names) > protoapi.MaxBulkNames:
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%d are selected, and %d is the most", len(names), protoapi.MaxBulkNames).WithHint("nothing was done; select fewer")
	}
	return names, nil
}
