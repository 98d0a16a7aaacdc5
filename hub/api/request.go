package api

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/state"
)

const (
	// defaultNotAfter is how long a request waits for its server by default.
	defaultNotAfter = 10 * time.Minute
	// maxNotAfter is how long it may wait at most: a request that was forgotten
	// must not fire.
	maxNotAfter = 24 * time.Hour
)

type requestID struct {
	ID string `path:"id" doc:"of the request"`
}

// requests takes one-shot requests.
type requests struct {
	store *store.Store
	clock state.Clock
	newID func() string // ULIDs
	// status knows what agents say of requests.
	status Decorator
	lost   losses
}

type requestQuery struct {
	Server string `query:"server" doc:"only those for this server"`
}

func (q requests) routes(t *route.Table) {
	op := t.Operation(http.MethodPost, protoapi.PathKind(resource.KindServer)+"/{name}/requests", "request",
		"Ask for one reboot, power-off or resume", reflect.TypeFor[protoapi.RebootRequest](),
		route.Rule{Right: access.Request, Target: route.TargetNamed, Kind: resource.KindServer})
	route.Register(t, op, q.request)

	route.Register(t, t.Operation(http.MethodGet, "/v1/requests/{id}", "getRequest", "Read one request", nil,
		route.Rule{Right: access.Read, Target: route.TargetRequest}),
		func(_ context.Context, in *requestID) (*answer[protoapi.RequestStatus], error) {
			r, err := q.store.Requests.Get(in.ID)
			if err != nil {
				return nil, route.Problem(err)
			}
			return &answer[protoapi.RequestStatus]{q.shown(r)}, nil
		})

	route.Register(t, t.Operation(http.MethodGet, protoapi.PathRequests, "listRequests", "List requests, the oldest first", nil,
		route.Rule{Right: access.Read, Target: route.TargetEach}),
		q.list)

	route.Register(t, t.Operation(http.MethodPost, protoapi.PathRequests+"/{id}/cancel", "cancelRequest", "Take a request back for which nothing was sent; idempotent", nil,
		route.Rule{Right: access.Request, Target: route.TargetRequest}),
		func(ctx context.Context, in *requestID) (*answer[protoapi.RequestStatus], error) {
			r, err := q.store.Requests.Cancel(ctx, in.ID, route.Caller(ctx).Name)
			if err != nil {
				return nil, route.Problem(err)
			}
			return &answer[protoapi.RequestStatus]{q.shown(r)}, nil
		})
}

// list has all, or those for a server: there are few, and those that ended leave after a while.
func (q requests) list(ctx context.Context, in *requestQuery) (*answer[protoapi.RequestList], error) {
	list := protoapi.RequestList{Items: []protoapi.RequestStatus{}, Incomplete: q.lost.of(ctx, "request")}
	all := slices.DeleteFunc(q.store.Requests.List(), func(r store.StoredRequest) bool { return in.Server != "" && r.Server != in.Server })
	for _, r := range route.Visible(q.store.Objects, route.Caller(ctx), all, placesOfRequest) {
		list.Items = append(list.Items, q.shown(r))
	}
	return &answer[protoapi.RequestList]{list}, nil
}

// placesOfRequest: a request is of a server.
func placesOfRequest(r store.StoredRequest, w *route.World) []access.Labels {
	return []access.Labels{access.AtServer(w, r.Server)}
}

// shown is a request as people shall see it, with what its agent says of it.
func (q requests) shown(r store.StoredRequest) protoapi.RequestStatus {
	out := protoapi.RequestStatus{Request: r.Request, Rack: r.Rack, Report: r.Report, CreatedAt: r.CreatedAt}
	if r.Report.Outcome.Ended() {
		return out
	}
	srv, err := store.Get[*resource.Server](q.store.Objects, r.Server)
	if err != nil {
		return out
	}
	q.status.Decorate(srv)
	out.Taken = srv.Status.Report != nil && slices.ContainsFunc(srv.Status.Report.Requests, func(said resource.RequestReport) bool { return said.ID == r.ID })
	return out
}

func (q requests) request(ctx context.Context, in *namedBody) (*answer[protoapi.RequestStatus], error) {
	var req protoapi.RebootRequest
	if err := route.Body("request", in.RawBody, &req); err != nil {
		return nil, err
	}
	r, err := q.accept(ctx, in.Name, req)
	if err != nil {
		return nil, route.Problem(err)
	}
	return &answer[protoapi.RequestStatus]{q.shown(r)}, nil
}

// accept takes a one-shot request, or says why there is no sense in it.
func (q requests) accept(ctx context.Context, server string, req protoapi.RebootRequest) (none store.StoredRequest, err error) {
	const op = "request"
	now := q.clock().UTC()
	if req.Action == "" {
		req.Action = resource.RequestReboot
	}
	if req.Mode == "" {
		req.Mode = resource.StopSoft
	}
	if req.NotAfter == nil {
		at := now.Add(defaultNotAfter)
		req.NotAfter = &at
	}
	var wrong protocol.FieldErrors
	resume := req.Action == resource.RequestResume
	if req.Action != resource.RequestReboot && req.Action != resource.RequestPowerOff && !resume {
		wrong = append(wrong, protocol.FieldError{Path: "action", Message: "is not one of reboot, power-off, resume"})
	}
	req.Reason = strings.TrimSpace(req.Reason)
	switch {
	case resume && req.Reason == "":
		wrong = append(wrong, protocol.FieldError{Path: "reason", Message: "is empty: say what was found at the server"})
	case len(req.Reason) > protoapi.MaxReason:
		wrong = append(wrong, protocol.FieldError{Path: "reason", Message: fmt.Sprintf("is longer than %d bytes", protoapi.MaxReason)})
	case !resume && (req.Retry || req.Reason != ""):
		wrong = append(wrong, protocol.FieldError{Path: "retry, reason", Message: "are of a resume"})
	case resume && req.AnyPhase:
		wrong = append(wrong, protocol.FieldError{Path: "anyPhase", Message: "is of other requests"})
	}
	if req.Mode != resource.StopSoft && req.Mode != resource.StopHard {
		wrong = append(wrong, protocol.FieldError{Path: "mode", Message: "is not one of soft, hard"})
	}
	if !req.NotAfter.After(now) || req.NotAfter.After(now.Add(maxNotAfter)) {
		wrong = append(wrong, protocol.FieldError{Path: "notAfter", Message: "is not within the next " + maxNotAfter.String() + " by the hub's clock"})
	}
	if len(wrong) > 0 {
		return none, protocol.Errorf(protocol.CodeInvalid, op, "%w", wrong).WithHint("correct the fields that are named")
	}
	rack, err := q.store.Objects.RackOf(server)
	if err != nil {
		return none, err
	}
	pre, err := q.possible(server, req)
	if err != nil {
		return none, err
	}
	r := store.StoredRequest{
		Request: resource.Request{
			ID: strings.ToLower(q.newID()), Server: server, Action: req.Action, Mode: req.Mode,
			By: route.Caller(ctx).Name, NotAfter: req.NotAfter.UTC(), Precondition: pre, AnyPhase: req.AnyPhase, Ref: req.Ref,
			Why: req.Reason, Retry: req.Retry,
		},
		Rack: rack, CreatedAt: now,
	}
	r.Report = resource.RequestReport{ID: r.ID, Outcome: resource.OutcomePending, At: now}
	return q.store.Requests.Create(ctx, r)
}

// possible returns what must still be so when the agent accepts the request, or
// why there is no sense in it now. The agent checks again, and alone knows whether a
// first boot is under way. Holds are no reason: what is asked for waits behind them.
//
//	action    | claim     | wants | any phase | outcome
//	reboot    | is going  | *     | *         | conflict
//	reboot    | there     | *     | *         | accepted for this claim
//	reboot    | none      | *     | no        | conflict
//	reboot    | none      | *     | yes       | accepted
//	power-off | *         | *     | *         | conflict where the server has disablePowerOff
//	power-off | there     | On    | *         | conflict
//	power-off | *         | *     | *         | accepted
//	resume    | is going  | *     | *         | conflict
//	resume    | none      | *     | *         | conflict
//	resume    | there     | Off   | *         | conflict
//	resume    | there     | On    | *         | accepted for this claim, unless the server is held
func (q requests) possible(server string, req protoapi.RebootRequest) (pre resource.Precondition, err error) {
	claim := q.ownerOf(server)
	if req.Action == resource.RequestPowerOff {
		if s, err := store.Get[*resource.Server](q.store.Objects, server); err == nil && s.Spec.DisablePowerOff {
			return pre, protocol.Errorf(protocol.CodeConflict, string(req.Action), "server %q is never powered off (spec.disablePowerOff)", server).
				WithHint("power it off by other means, or take spec.disablePowerOff out of the Server")
		}
		return pre, stoppable(server, claim)
	}
	refuse := func(format string, args ...any) *protocol.Error {
		return protocol.Errorf(protocol.CodeConflict, string(req.Action), format, args...)
	}
	resume := req.Action == resource.RequestResume
	switch {
	case claim == nil && resume:
		return pre, refuse("server %q has no claim, so nothing says what it boots", server).WithHint("apply a Claim for it first (rackctl get claims)")
	case claim == nil && req.AnyPhase:
		return pre, nil
	case claim == nil:
		return pre, refuse("server %q has no claim, so nothing says what it boots", server).
			WithHint("apply a Claim for it first (rackctl get claims), or stop it with --any-phase; it is not started again then")
	case claim.Metadata.DeletedAt != nil:
		return pre, refuse("%s %q is being deleted", strings.ToLower(string(claim.Kind)), claim.Metadata.Name).WithHint("wait until the server is released")
	case resume && claim.Spec.Power != resource.WantOn:
		return pre, refuse("%s %q wants server %q Off", strings.ToLower(string(claim.Kind)), claim.Metadata.Name, server).
			WithHint("set spec.power to On in the claim (spec.serverPower in a maintenance)")
	case resume && q.held(server) != "":
		return pre, refuse("server %q is held: %s", server, q.held(server)).WithHint("a held server stays off until its last hold is released: rackctl get holds shows whose they are")
	}
	return resource.Precondition{OwnerUID: claim.Metadata.UID}, nil
}

// stoppable says why a server cannot be powered off once: its claim would start
// it again.
func stoppable(server string, claim *resource.Claim) error {
	if claim == nil || claim.Metadata.DeletedAt != nil || claim.Spec.Power != resource.WantOn {
		return nil
	}
	return protocol.Errorf(protocol.CodeConflict, "power off", "%s %q wants server %q on", strings.ToLower(string(claim.Kind)), claim.Metadata.Name, server).
		WithHint("set spec.power to Off in the claim (spec.serverPower in a maintenance), or hold the server: rackctl hold %s", server)
}

// ownerOf is the claim of a server, or while a maintenance or a discovery has the server,
// that in the form of one; nil without any.
func (q requests) ownerOf(server string) *resource.Claim {
	m := q.store.Maintenances.Of(server)
	if m == nil {
		if claim := q.store.Claims.Of(server); claim != nil {
			return claim
		}
		return q.discoveryOf(server)
	}
	return &resource.Claim{Header: resource.Header{Kind: m.Kind, Metadata: m.Metadata}, Spec: resource.ClaimSpec{Power: m.Spec.ServerPower}}
}

// held names a hold that lies on a server; empty without one.
func (q requests) held(server string) string {
	for _, h := range q.store.Holds.On(server) {
		if h.Status.ReleasedAt == nil {
			return h.Metadata.Name
		}
	}
	return ""
}

// discoveryOf is the discovery of a server in the form of a claim, or nil.
func (q requests) discoveryOf(server string) *resource.Claim {
	s, err := store.Peek[*resource.Server](q.store.Objects, server)
	if err != nil {
		return nil
	}
	d, err := store.Peek[*resource.BootConfiguration](q.store.Objects, plan.DiscoveryName(s))
	if err != nil {
		return nil
	}
	meta := d.Metadata
	meta.UID = d.Spec.Owner.UID
	return &resource.Claim{Header: resource.Header{Kind: d.Kind, Metadata: meta}, Spec: resource.ClaimSpec{Power: resource.WantOn}}
}
