package api

import (
	"context"
	"crypto/x509"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// maxJoinBody is more than somebody may send who has not proved anything yet, in bytes.
const maxJoinBody = 64<<10 + 1

// strangerInput is the body of a request without a token of the API, where it came
// from, and the certificate that came with it.
type strangerInput struct {
	RawBody []byte `contentType:"application/json"`
	remote  string
	agent   string // common name of the verified certificate; empty without one
	chains  [][]*x509.Certificate
}

// Resolve implements huma.Resolver.
func (in *strangerInput) Resolve(ctx huma.Context) []error {
	in.remote = ctx.RemoteAddr()
	if s := ctx.TLS(); s != nil && len(s.VerifiedChains) > 0 && len(s.VerifiedChains[0]) > 0 {
		in.chains = s.VerifiedChains
		in.agent = s.VerifiedChains[0][0].Subject.CommonName
	}
	return nil
}

// joins admits agents, and renews their certificates.
type joins struct {
	objects *store.Objects
	members Members
	// strangers are those without a good token.
	strangers, renewals *throttle
}

func (j joins) routes(t *route.Table) {
	op := t.Operation(http.MethodPost, protoapi.PathKind(resource.KindRack)+"/{name}/join-token", "joinToken",
		"Make a token with which one agent joins the rack; without a body to serve it", reflect.TypeFor[protoapi.TokenRequest](),
		route.Rule{Right: access.JoinToken, Target: route.TargetNamed, Kind: resource.KindRack, Secret: true})
	route.Register(t, op, j.token)
	op.RequestBody.Required = false // as of a release

	op = t.Operation(http.MethodPost, protoapi.PathJoin, "join", "Join an agent with its one-time token", reflect.TypeFor[protoapi.JoinRequest](),
		route.Rule{Open: true})
	op.MaxBodyBytes = maxJoinBody
	route.Register(t, op, func(ctx context.Context, in *strangerInput) (*answer[protoapi.JoinAnswer], error) {
		out, err := j.join(ctx, in.RawBody)
		if err == nil {
			return &answer[protoapi.JoinAnswer]{out}, nil
		}
		// Who has no token is a stranger. Who has one was let in by an operator: a thousand racks behind one
		// address join as fast as its requests may come (gate.Limits).
		if code := protoapi.ProblemOf(err).Code; code == protocol.CodeDenied || code == protocol.CodeInvalid {
			if err := j.strangers.admit(in.remote); err != nil {
				return nil, throttledProblem(err)
			}
		}
		return nil, route.Problem(err)
	})

	op = t.Operation(http.MethodPost, protoapi.PathRenew, "renew", "Tell an agent where it stands, and give it its next certificate",
		reflect.TypeFor[protoapi.RenewRequest](),
		route.Rule{Open: true})
	op.MaxBodyBytes, op.Security = maxJoinBody, nil
	route.Register(t, op, func(ctx context.Context, in *strangerInput) (*answer[protoapi.RenewAnswer], error) {
		if err := j.renewals.admit(in.remote); err != nil {
			return nil, throttledProblem(err)
		}
		var req protoapi.RenewRequest
		if err := route.Body("renew", in.RawBody, &req); err != nil {
			return nil, err
		}
		out, err := j.members.Renew(ctx, req, in.agent)
		if err != nil {
			return nil, route.Problem(err)
		}
		return &answer[protoapi.RenewAnswer]{out}, nil
	})
}

func (j joins) token(ctx context.Context, in *namedBody) (*answer[protoapi.JoinToken], error) {
	var req protoapi.TokenRequest
	if len(in.RawBody) > 0 {
		if err := route.Body("make a join token", in.RawBody, &req); err != nil {
			return nil, err
		}
	}
	if _, err := j.objects.Get(resource.KindRack, in.Name); err != nil {
		return nil, route.Problem(err)
	}
	token, err := j.members.NewJoinToken(ctx, in.Name, req.Standby)
	if err != nil {
		return nil, route.Problem(err)
	}
	return &answer[protoapi.JoinToken]{token}, nil
}

// join lets an agent in whose token is good.
func (j joins) join(ctx context.Context, raw []byte) (protoapi.JoinAnswer, error) {
	req, err := readJoin(raw)
	if err != nil {
		return protoapi.JoinAnswer{}, err
	}
	return j.members.Join(ctx, req)
}

// readJoin reads a join request from somebody who is not known.
func readJoin(raw []byte) (req protoapi.JoinRequest, err error) {
	if err := route.Body("join", raw, &req); err != nil {
		return req, err
	}
	return req, req.Validate()
}

func throttledProblem(err error) error {
	return protoapi.ProblemOf(err).WithStatus(http.StatusTooManyRequests)
}

// Members are the agents of all racks.
type Members interface {
	// Join checks the one-time token and admits an agent.
	Join(ctx context.Context, r protoapi.JoinRequest) (protoapi.JoinAnswer, error)
	// NewJoinToken makes a one-time token for a rack.
	NewJoinToken(ctx context.Context, rack string, standby bool) (protoapi.JoinToken, error)
	// Renew tells an agent where it stands, and gives it its next certificate.
	// certificate is the common name of the one that TLS has verified; empty without.
	Renew(ctx context.Context, r protoapi.RenewRequest, certificate string) (protoapi.RenewAnswer, error)
	// Revoke refuses an agent from now on.
	Revoke(ctx context.Context, agent string, r protoapi.EndRequest, by string) (protoapi.EndAnswer, error)
	// ReplaceAgent ends the term of a rack's agent and makes a token for the next.
	ReplaceAgent(ctx context.Context, rack string, r protoapi.EndRequest, by string) (protoapi.EndAnswer, error)
	// Failover has the standby of a rack serve it.
	Failover(ctx context.Context, rack string, r protoapi.FailoverRequest, by string) (protoapi.FailoverAnswer, error)
	// Settle ends what a failover left open.
	Settle(ctx context.Context, rack string, r protoapi.SettleRequest, by string) (protoapi.SettleAnswer, error)
	// KeepAgent says which of several agents of one disk goes on.
	KeepAgent(ctx context.Context, rack string, r protoapi.KeepRequest, by string) (protoapi.KeepAnswer, error)
}
