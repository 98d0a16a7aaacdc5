package api

import (
	"context"
	"io"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// AgentPackages keeps packages of agents; see package packages. It is used concurrently.
type AgentPackages interface {
	List() []protoapi.AgentPackage
	Get(digest string) (protoapi.AgentPackage, error)
	Put(ctx context.Context, digest string, signed []byte, by string) (protoapi.AgentPackage, error)
	Append(ctx context.Context, digest, architecture string, offset int64, r io.Reader) (protoapi.AgentProgram, error)
	Remove(ctx context.Context, digest, by string) (protoapi.AgentPackage, error)
}

type packageInput struct {
	Digest string `path:"digest" doc:"sha256: and 64 hex digits, of the signed manifest"`
}

type packageBody struct {
	Digest  string `path:"digest" doc:"sha256: and 64 hex digits, of the signed manifest"`
	RawBody []byte `contentType:"application/json"`
}

type programInput struct {
	Digest       string `path:"digest" doc:"sha256: and 64 hex digits, of the signed manifest"`
	Architecture string `path:"architecture" doc:"amd64, arm64"`
	Offset       int64  `query:"offset" required:"true" minimum:"0" doc:"where the piece begins: how many bytes are there"`

	w http.ResponseWriter
	r *http.Request
}

// Resolve implements huma.Resolver: the body of a piece is read by its handler.
func (in *programInput) Resolve(ctx huma.Context) []error {
	in.r, in.w = humago.Unwrap(ctx)
	return nil
}

// agentPackages has the routes of packages of agents.
type agentPackages struct {
	room   AgentPackages // nil keeps none
	pieces *slots
	lost   losses
}

func (a agentPackages) ready() error {
	if a.room == nil {
		return route.Problem(protocol.Errorf(protocol.CodeUnsupported, "packages of agents", "this hub keeps none"))
	}
	return nil
}

// seen leaves out who is to run a package, for callers who do not see everything.
func seen(ctx context.Context, p protoapi.AgentPackage) protoapi.AgentPackage {
	if !route.Caller(ctx).Scope.Everywhere() {
		p.Upgrades, p.Agents = nil, nil
	}
	return p
}

func (a agentPackages) routes(t *route.Table) {
	one := protoapi.PathAgentPackages + "/{digest}"
	route.Register(t, t.Operation(http.MethodGet, protoapi.PathAgentPackages, "listAgentPackages", "List the packages of agents", nil,
		route.Rule{Right: access.Read, Target: route.TargetEach}),
		func(ctx context.Context, _ *noInput) (*answer[protoapi.AgentPackageList], error) {
			if err := a.ready(); err != nil {
				return nil, err
			}
			items := a.room.List()
			for i := range items {
				items[i] = seen(ctx, items[i])
			}
			return &answer[protoapi.AgentPackageList]{protoapi.AgentPackageList{Items: items, Incomplete: a.lost.of(ctx, "agentpackage")}}, nil
		})
	route.Register(t, t.Operation(http.MethodGet, one, "getAgentPackage", "Read what is known of a package of agents", nil,
		route.Rule{Right: access.Read, Target: route.TargetEach}),
		func(ctx context.Context, in *packageInput) (*answer[protoapi.AgentPackage], error) {
			if err := a.ready(); err != nil {
				return nil, err
			}
			item, err := a.room.Get(in.Digest)
			return &answer[protoapi.AgentPackage]{seen(ctx, item)}, route.Problem(err)
		})
	route.Register(t, t.Operation(http.MethodPut, one, "pushAgentPackage", "Push a package of agents: its signed manifest", reflect.TypeFor[protoapi.AgentPackageRequest](),
		route.Rule{Right: access.Apply, Target: route.TargetWhole, Packed: true}),
		func(ctx context.Context, in *packageBody) (*answer[protoapi.AgentPackage], error) {
			if err := a.ready(); err != nil {
				return nil, err
			}
			var req protoapi.AgentPackageRequest
			if err := route.Body("push agent package", in.RawBody, &req); err != nil {
				return nil, err
			}
			item, err := a.room.Put(ctx, in.Digest, req.Manifest, route.Caller(ctx).Name)
			return &answer[protoapi.AgentPackage]{item}, route.Problem(err)
		})
	route.Register(t, t.Operation(http.MethodDelete, one, "deleteAgentPackage", "Delete a package of agents that nobody is to run", nil,
		route.Rule{Right: access.Delete, Target: route.TargetWhole, Packed: true}),
		func(ctx context.Context, in *packageInput) (*answer[protoapi.AgentPackage], error) {
			if err := a.ready(); err != nil {
				return nil, err
			}
			item, err := a.room.Remove(ctx, in.Digest, route.Caller(ctx).Name)
			return &answer[protoapi.AgentPackage]{item}, route.Problem(err)
		})

	op := t.Operation(http.MethodPut, one+"/programs/{architecture}", "pushAgentProgram", "Send the next piece of a program of a package of agents", nil,
		route.Rule{Right: access.Apply, Target: route.TargetWhole, Part: true})
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: "string", Format: "binary"}}}}
	route.Register(t, op, func(ctx context.Context, in *programInput) (*answer[protoapi.AgentProgram], error) {
		if err := a.ready(); err != nil {
			return nil, err
		}
		out, err := a.piece(ctx, in)
		if err != nil {
			return nil, noRoom(err)
		}
		return &answer[protoapi.AgentProgram]{out}, nil
	})
}

// piece takes the next piece of a program.
func (a agentPackages) piece(ctx context.Context, in *programInput) (out protoapi.AgentProgram, err error) {
	err = takePiece(ctx, a.pieces, in.w, in.r, func(body io.Reader) error {
		out, err = a.room.Append(ctx, in.Digest, in.Architecture, in.Offset, body)
		return err
	})
	return out, err
}
