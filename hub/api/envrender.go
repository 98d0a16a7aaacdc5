package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

type envRenderInput struct {
	Name    string `path:"name" doc:"metadata.name of the server"`
	BootEnv string `query:"bootenv" doc:"an environment in place of the server's own"`
	Path    string `query:"path" doc:"the one file whose content is wanted"`
}

func (a *API) registerEnvRender() {
	op := a.operation(http.MethodGet, protoapi.PathKind(resource.KindServer)+"/{name}/bootenv/render", "renderBootEnv",
		"Render what a server would be served of a boot environment, with a sample token and secrets masked", nil)
	huma.Register(a.huma, op, func(ctx context.Context, in *envRenderInput) (*answer[protoapi.EnvRender], error) {
		out, err := a.rooms.Status.RenderEnv(ctx, in.Name, in.BootEnv, in.Path)
		if err != nil {
			return nil, problem(err)
		}
		return &answer[protoapi.EnvRender]{out}, nil
	})
}
