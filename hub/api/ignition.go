package api

import (
	"context"
	"crypto/x509"
	"net/http"
	"reflect"
	"slices"

	"rackboot/hub/access"
	protoapi "rackboot/protocol/api"
)

func (a *API) registerIgnition() {
	op := a.operation(http.MethodPost, protoapi.PathIgnition, "ignition", "Give an agent the user data that is sealed for it", reflect.TypeFor[protoapi.IgnitionRequest]())
	op.MaxBodyBytes, op.Security = maxJoinBody, nil // an agent's certificate, and no caller's
	register(a, op, a.ignition)
}

func (a *API) ignition(ctx context.Context, in *strangerInput) (*answer[protoapi.IgnitionAnswer], error) {
	if err := a.pulls.admit(in.remote); err != nil {
		return nil, throttledProblem(err)
	}
	var req protoapi.IgnitionRequest
	if err := body("fetch user data", in.RawBody, &req); err != nil {
		return nil, err
	}
	if err := req.Validate(); err != nil {
		return nil, problem(err)
	}
	out, err := a.rooms.Carried.Ignition(ctx, req, a.agentOf(in.chains))
	if err != nil {
		return nil, problem(err)
	}
	return &answer[protoapi.IgnitionAnswer]{out}, nil
}

// agentOf is the agent whose certificate TLS has verified; empty without one. A
// certificate of a client is no agent's, whatever its common name is: see byCertificate.
func (a *API) agentOf(chains [][]*x509.Certificate) string {
	for _, chain := range chains {
		leaf, root := chain[0], chain[len(chain)-1]
		if slices.Contains(leaf.Subject.OrganizationalUnit, access.ClientUnit) {
			continue
		}
		if !slices.ContainsFunc(a.clientCAs, root.Equal) {
			return leaf.Subject.CommonName
		}
	}
	return ""
}

// Carried is what boots carry besides their image, sealed for agents.
type Carried interface {
	// Ignition is sealed user data for the agent of the certificate.
	Ignition(ctx context.Context, r protoapi.IgnitionRequest, certificate string) (protoapi.IgnitionAnswer, error)
	// EnvBundle is a sealed boot environment for the agent of the certificate.
	EnvBundle(ctx context.Context, r protoapi.EnvBundleRequest, certificate string) (protoapi.EnvBundleAnswer, error)
	// MayFetchISO says why the agent of the certificate may not have the content of an
	// uploaded file.
	MayFetchISO(certificate, digest string) error
}
