package status

import (
	"context"

	"rackboot/protocol/api"
)

// RenderEnv makes what a server would be served of a boot environment; see package env.
func (c *Room) RenderEnv(ctx context.Context, server, env, path string) (api.EnvRender, error) {
	rack, _ := c.cfg.Objects.RackOf(server) // empty where its BMC is gone
	return c.cfg.Env.Render(ctx, c.cfg.View.Rack(rack), server, env, path)
}
