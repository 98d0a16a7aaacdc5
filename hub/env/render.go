package env

import (
	"context"
	"slices"
	"strings"

	"rackboot/hub/conditions"
	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/netboot/bootenv"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// envMask takes the place of what is secret before anything is rendered.
const envMask = "********"

// Render makes what a server would be served of a boot environment: of the one that it
// has, or of another by name. Values of Secrets are masked before, whatever a template
// does with them. The codes are not_found, conflict for a server that has none, and those
// of a rendering.
func (c *Room) Render(ctx context.Context, f plan.Fleet, server, name, path string) (api.EnvRender, error) {
	const op = "render boot environment"
	srv, err := store.Peek[*resource.Server](c.cfg.Store.Objects, server)
	if err != nil {
		return api.EnvRender{}, err
	}
	w, has := c.envOwner(f, srv)
	if name == "" {
		name = has
	}
	if name == "" {
		return api.EnvRender{}, protocol.Errorf(protocol.CodeConflict, op, "server %q has no boot environment", server).
			WithHint("name one: rackctl bootenv render %s --bootenv ENV", server)
	}
	env := f.Env.BootEnv(name)
	if env == nil {
		return api.EnvRender{}, protocol.Errorf(protocol.CodeNotFound, op, "BootEnv %q does not exist", name).WithHint("rackctl get bootenvs lists what there is")
	}
	if name != has {
		w.Purpose = purposeOf(env)
	}
	secrets, err := c.envSecrets(f, srv)
	if err != nil {
		return api.EnvRender{}, err
	}
	b := plan.EnvBundle(f, srv, env, w, masked(secrets))
	for _, p := range b.Params { // what masks are cannot be judged
		for _, name := range p.Secret {
			delete(b.Schemas, name)
		}
	}
	return c.rendered(ctx, b, path)
}

// envOwner is whom a server's environment is for, and which one it is; empty for none.
func (c *Room) envOwner(f plan.Fleet, srv *resource.Server) (w plan.EnvFor, env string) {
	w = plan.EnvFor{Purpose: resource.PurposeClaim, KernelArgs: srv.Spec.KernelArgs}
	uid := ""
	if m, cl := f.MaintenanceOf(srv.Metadata.Name), f.ClaimOf(srv.Metadata.Name); m != nil {
		w.Purpose, w.Owner, w.Ignition, uid = resource.PurposeMaintenance, m.Metadata.Name, m.Spec.Boot.IgnitionSecretRef != nil, m.Metadata.UID
		w.KernelArgs = resource.JoinKernelArgs(srv.Spec.KernelArgs, m.Spec.Boot.KernelArgs)
		env = nameOf(m.Spec.Boot.BootEnv)
	} else if cl != nil {
		w.Owner, w.Ignition, uid = cl.Metadata.Name, cl.Spec.IgnitionSecretRef != nil, cl.Metadata.UID
		w.KernelArgs = resource.JoinKernelArgs(srv.Spec.KernelArgs, cl.Spec.KernelArgs)
		env = nameOf(cl.Spec.BootEnv)
	} else if d := f.DiscoveryOf(srv.Metadata.Name); d != nil {
		return plan.EnvForConfig(d), d.Spec.BootEnv
	}
	for _, b := range store.Find(c.cfg.Store.Objects, store.ConfigsByOwner, uid) { // what was fixed counts, where it is of the same environment
		if b.Spec.BootEnv == env {
			return plan.EnvForConfig(b), env
		}
	}
	return w, env
}

func nameOf(r *resource.Ref) string {
	if r == nil {
		return ""
	}
	return r.Name
}

// purposeOf is what an environment is for that nobody boots yet.
func purposeOf(e *resource.BootEnv) resource.Purpose {
	switch {
	case e.Spec.OnlyUnknown:
		return resource.PurposeDiscovery
	case e.Spec.Destructive:
		return resource.PurposeMaintenance
	}
	return resource.PurposeClaim
}

func masked(secrets map[string]plan.EnvSecret) map[string]plan.EnvSecret {
	out := map[string]plan.EnvSecret{}
	for name, s := range secrets {
		m := plan.EnvSecret{Values: map[string]string{}}
		for k := range s.Values {
			m.Values[k] = envMask
		}
		out[name] = m
	}
	return out
}

// rendered renders a bundle for a sample attempt.
func (c *Room) rendered(ctx context.Context, b resource.EnvBundle, path string) (out api.EnvRender, err error) {
	e, err := bootenv.Merge(b)
	if err != nil {
		return out, err
	}
	root, err := e.Root()
	if err != nil {
		return out, err
	}
	ctx, cancel := context.WithTimeout(ctx, judgeTimeout)
	defer cancel()
	tree, err := e.Render(ctx, bootenv.Sample())
	if err != nil {
		return out, err
	}
	if err := c.complete(e, root, tree); err != nil {
		return out, err
	}
	out = api.EnvRender{Server: b.Machine.Name, BootEnv: b.BootEnv, OS: e.Spec.OS.Name, Source: root.Source, Files: []api.EnvRenderFile{}}
	switch root.Source {
	case resource.EnvFromISO:
		out.From = root.ISO.File
	case resource.EnvFromImage:
		out.From = root.Image.Reference
	case resource.EnvFromProxy:
		out.From = root.Proxies[0].URL
	case resource.EnvFromNone:
	}
	for _, p := range tree.Paths() {
		if path != "" && p != strings.TrimPrefix(path, "/") {
			continue
		}
		out.Files = append(out.Files, renderedFile(tree, p, path != ""))
	}
	if path != "" {
		if len(out.Files) == 0 {
			return out, protocol.Errorf(protocol.CodeNotFound, "render boot environment", "%s renders no file at %q", b.BootEnv, path).
				WithHint("rackctl bootenv render %s lists them", b.Machine.Name)
		}
		return out, nil
	}
	for _, key := range resource.LoaderKeys() {
		if strings.HasPrefix(string(key), e.Arch+"-") {
			out.Boots = append(out.Boots, renderedBoot(ctx, e, key))
		}
	}
	return out, nil
}

func renderedFile(tree bootenv.Tree, p string, whole bool) api.EnvRenderFile {
	f := tree.Files[p]
	out := api.EnvRenderFile{Path: p, Template: f.Template, Link: tree.Links[p], Size: len(f.Content)}
	for _, o := range f.Origins {
		if q := (api.EnvRenderParam{Param: o.Param, Source: o.Source, Secret: o.Secret}); !slices.Contains(out.Params, q) {
			out.Params = append(out.Params, q)
		}
	}
	if whole {
		out.Content = string(f.Content)
	}
	return out
}

func renderedBoot(ctx context.Context, e *bootenv.Effective, key resource.LoaderKey) api.EnvRenderBoot {
	boot, err := e.Boot(ctx, key, bootenv.Sample())
	if err != nil {
		return api.EnvRenderBoot{Kind: key, Refused: conditions.Text(err)}
	}
	return api.EnvRenderBoot{Kind: key, Loader: boot.Loader, UKI: boot.UKI, Kernel: boot.Kernel, Initrds: boot.Initrds, CommandLine: boot.CommandLine}
}
