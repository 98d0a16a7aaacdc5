package api

import (
	"context"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
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

func (a *API) registerRequests() {
	op := a.operation(http.MethodPost, protoapi.PathKind(protocol.KindServer)+"/{name}/requests", "request",
		"Ask for one reboot or power-off", reflect.TypeFor[protoapi.RebootRequest]())
	register(a, op, a.request)

	huma.Register(a.huma, a.operation(http.MethodGet, "/v1/requests/{id}", "getRequest", "Read one request", nil),
		func(_ context.Context, in *requestID) (*answer[protoapi.RequestStatus], error) {
			r, err := a.store.GetRequest(in.ID)
			if err != nil {
				return nil, problem(err)
			}
			return &answer[protoapi.RequestStatus]{requestStatus(r)}, nil
		})
}

func requestStatus(r store.StoredRequest) protoapi.RequestStatus {
	return protoapi.RequestStatus{Request: r.Request, Rack: r.Rack, Report: r.Report, CreatedAt: r.CreatedAt}
}

func (a *API) request(ctx context.Context, in *namedBody) (*answer[protoapi.RequestStatus], error) {
	const op = "request"
	var req protoapi.RebootRequest
	if err := body(op, in.RawBody, &req); err != nil {
		return nil, err
	}
	now := a.clock().UTC()
	if req.Action == "" {
		req.Action = protocol.RequestReboot
	}
	if req.Mode == "" {
		req.Mode = protocol.StopSoft
	}
	if req.NotAfter == nil {
		at := now.Add(defaultNotAfter)
		req.NotAfter = &at
	}
	var wrong protocol.FieldErrors
	if req.Action != protocol.RequestReboot && req.Action != protocol.RequestPowerOff {
		wrong = append(wrong, protocol.FieldError{Path: "action", Message: "is not one of reboot, power-off"})
	}
	if req.Mode != protocol.StopSoft && req.Mode != protocol.StopHard {
		wrong = append(wrong, protocol.FieldError{Path: "mode", Message: "is not one of soft, hard"})
	}
	if !req.NotAfter.After(now) || req.NotAfter.After(now.Add(maxNotAfter)) {
		wrong = append(wrong, protocol.FieldError{Path: "notAfter", Message: "is not within the next " + maxNotAfter.String() + " by the hub's clock"})
	}
	if len(wrong) > 0 {
		return nil, problem(protocol.Errorf(protocol.CodeInvalid, op, "%w", wrong).WithHint("correct the fields that are named"))
	}
	rack, err := a.store.RackOf(in.Name)
	if err != nil {
		return nil, problem(err)
	}
	pre, err := a.possible(in.Name, req.Action)
	if err != nil {
		return nil, problem(err)
	}
	r := store.StoredRequest{
		Request: protocol.Request{
			ID: strings.ToLower(a.newID()), Server: in.Name, Action: req.Action, Mode: req.Mode,
			By: caller(ctx), NotAfter: req.NotAfter.UTC(),
			Precondition: pre,
		},
		Rack: rack, CreatedAt: now,
	}
	r.Report = protocol.RequestReport{ID: r.ID, Outcome: protocol.OutcomePending, At: now}
	if err := a.store.PutRequest(ctx, r); err != nil {
		return nil, problem(err)
	}
	return &answer[protoapi.RequestStatus]{requestStatus(r)}, nil
}

// possible returns what must still be so when the agent accepts the request, or
// why there is no sense in it now. The agent checks again.
func (a *API) possible(server string, action protocol.RequestAction) (protocol.Precondition, error) {
	if action == protocol.RequestPowerOff {
		return protocol.Precondition{}, a.stoppable(server)
	}
	claim, err := a.rebootable(server)
	if err != nil {
		return protocol.Precondition{}, err
	}
	return protocol.Precondition{ClaimUID: claim.Metadata.UID}, nil
}

// stoppable says why a server cannot be powered off once: its claim would start
// it again.
func (a *API) stoppable(server string) error {
	claim := a.store.ClaimOf(server)
	if claim == nil || claim.Metadata.DeletedAt != nil || claim.Spec.Power != protocol.WantOn {
		return nil
	}
	return protocol.Errorf(protocol.CodeConflict, "power off", "claim %q wants server %q on", claim.Metadata.Name, server).
		WithHint("set spec.power to Off in the claim, or hold the server: rackctl hold %s", server)
}

// rebootable returns the claim that says what the server boots, or why there is
// no reboot now.
func (a *API) rebootable(server string) (*protocol.Claim, error) {
	refuse := func(format string, args ...any) *protocol.Error {
		return protocol.Errorf(protocol.CodeConflict, "reboot", format, args...)
	}
	claim := a.store.ClaimOf(server)
	switch {
	case claim == nil:
		return nil, refuse("server %q has no claim, so nothing says what it boots", server).
			WithHint("apply a Claim for it first; rackctl get claims")
	case claim.Metadata.DeletedAt != nil:
		return nil, refuse("claim %q is being deleted", claim.Metadata.Name).WithHint("wait until the server is released")
	case claim.Spec.Power != protocol.WantOn:
		return nil, refuse("claim %q wants server %q off", claim.Metadata.Name, server).WithHint("set spec.power to On in the claim")
	}
	if holds := a.store.HoldsOn(server); len(holds) > 0 {
		return nil, refuse("server %q is held off by hold %s of %q", server, holds[0].Metadata.Name, holds[0].Spec.Owner).
			WithHint("it starts by itself when all holds are released; rackctl get holds")
	}
	return claim, nil
}
