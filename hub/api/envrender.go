package api

import (
	"context"
	"net/http"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

type envRenderInput struct {
	Name    string `path:"name" doc:"metadata.name of the server"`
	BootEnv string `query:"bootenv" doc:"an environment in place of the server's own"`
	Path    string `query:"path" doc:"the one file whose content is wanted"`
}

// Renderer renders boot environments.
type Renderer interface {
	// RenderEnv makes what a server would be served of a boot environment, empty for its
	// own, with secrets masked; path is empty for all files.
	RenderEnv(ctx context.Context, server, env, path string) (protoapi.EnvRender, error)
}

// renders shows what a server would be served.
type renders struct{ room Renderer }

func (r renders) routes(t *route.Table) {
	op := t.Operation(http.MethodGet, protoapi.PathKind(resource.KindServer)+"/{name}/bootenv/render", "renderBootEnv",
		"Render what a server would be served of a boot environment, with a sample token and secrets masked", nil,
		route.Rule{Right: access.Read, Target: route.TargetNamed, Kind: resource.KindServer})
	route.Register(t, op, func(ctx context.Context, in *envRenderInput) (*answer[protoapi.EnvRender], error) {
		out, err := r.room.RenderEnv(ctx, in.Name, in.BootEnv, in.Path)
		if err != nil {
			return nil, route.Problem(err)
		}
		return &answer[protoapi.EnvRender]{out}, nil
	})
}
