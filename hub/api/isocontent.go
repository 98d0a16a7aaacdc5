package api

import (
	"context"
	"crypto/x509"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"rackboot/hub/api/route"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

const (
	// maxISOPulls bounds the answers with content that agents get at once, and
	// maxISOPullsOfAgent those of one.
	maxISOPulls        = 64
	maxISOPullsOfAgent = 2
)

// ISOContents opens the content of uploaded files.
type ISOContents interface {
	// OpenContent is for agents that may have it.
	OpenContent(digest string) (*os.File, int64, error)
}

// ISOGrants judges which agents may have which content.
type ISOGrants interface {
	// MayFetchISO says why the agent of the certificate may not have the content of an
	// uploaded file.
	MayFetchISO(certificate, digest string) error
}

type contentInput struct {
	Digest string `path:"digest" doc:"sha256: and 64 hex digits"`

	remote string
	chains [][]*x509.Certificate
}

// Resolve implements huma.Resolver.
func (in *contentInput) Resolve(ctx huma.Context) []error {
	in.remote = ctx.RemoteAddr()
	if s := ctx.TLS(); s != nil {
		in.chains = s.VerifiedChains
	}
	return nil
}

// isoContents gives agents the content of uploaded files.
type isoContents struct {
	shelf  ISOContents // nil keeps none
	room   ISOGrants
	agents route.Agents
	pulls  *throttle
	slots  *slots
}

func (c isoContents) routes(t *route.Table) {
	ready := func() error { return kept(c.shelf != nil) }
	op := t.Operation(http.MethodGet, protoapi.PathISOContent+"{digest}", "isoContent", "Give an agent the content of an uploaded file that its documents name", nil,
		route.Rule{Open: true})
	op.Security = nil // an agent's certificate, and no caller's
	op.Responses["200"] = &huma.Response{Description: "The content; ranges are answered with 206", Content: map[string]*huma.MediaType{"application/octet-stream": {}}}
	route.Register(t, op, func(_ context.Context, in *contentInput) (*huma.StreamResponse, error) {
		if err := ready(); err != nil {
			return nil, err
		}
		return c.pull(in)
	})
}

// pull gives an agent what its documents name, whole or in ranges.
func (c isoContents) pull(in *contentInput) (*huma.StreamResponse, error) {
	const op = "fetch file"
	if err := c.pulls.admit(in.remote); err != nil {
		return nil, throttledProblem(err)
	}
	agent := c.agents(in.chains)
	if err := c.room.MayFetchISO(agent, in.Digest); err != nil {
		return nil, route.Problem(err)
	}
	end, ok := c.slots.begin(agent)
	if !ok {
		return nil, route.Problem(protocol.Errorf(protocol.CodeUnavailable, op, "%d agents fetch already, or this one %d times", maxISOPulls, maxISOPullsOfAgent).
			WithHint("it is tried again by itself"))
	}
	f, _, err := c.shelf.OpenContent(in.Digest)
	if err != nil {
		end()
		return nil, route.Problem(err)
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer end()
		defer f.Close()
		r, w := humago.Unwrap(hc)
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("ETag", strconv.Quote(in.Digest))
		http.ServeContent(w, r, "", time.Time{}, f)
	}}, nil
}
