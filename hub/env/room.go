package env

import (
	"context"
	"log/slog"
	"strings"

	"rackboot/hub/conditions"
	"rackboot/hub/events"
	"rackboot/hub/images"
	"rackboot/hub/link"
	"rackboot/hub/plan"
	"rackboot/hub/sealing"
	"rackboot/hub/store"
	"rackboot/hub/terms"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/sealbox"
	"rackboot/state"
)

// Config is what a Room is made of.
type Config struct {
	Store  *store.Store
	Vault  sealing.Vault // nil where no Secrets are used
	Seals  sealing.Count
	Images *images.Room
	Terms  *terms.Terms
	Link   *link.Room
	Events *events.Log
	Files  Files // nil where no uploaded files are kept
	Logger *slog.Logger
	Crash  state.Crasher // nil in production
}

// Room is safe for concurrent use by the turns of several units.
type Room struct {
	cfg       Config
	envs      *envBook
	isoGrants *isoGrants
	metrics
}

// New makes a Room that has made nothing yet.
func New(cfg Config) *Room {
	return &Room{cfg: cfg, envs: newEnvBook(), isoGrants: newISOGrants(), metrics: newMetrics()}
}

// secretVersions are the digests of the Secrets of params, by name.
func (c *Room) secretVersions() map[string]string {
	out := map[string]string{}
	for _, s := range store.Find(c.cfg.Store.Objects, store.SecretsByType, string(resource.SecretParams)) {
		out[s.Metadata.Name] = s.Metadata.UID + " " + s.Status.Digest
	}
	return out
}

// envSecrets opens the Secrets of a server's params. No error has anything of them.
func (c *Room) envSecrets(f plan.Fleet, srv *resource.Server) (map[string]plan.EnvSecret, error) {
	const op = "read params"
	out := map[string]plan.EnvSecret{}
	for _, name := range plan.EnvSecretsOf(f, srv) {
		s, err := store.Peek[*resource.Secret](c.cfg.Store.Objects, name)
		if err != nil {
			return nil, err
		}
		stored, err := c.cfg.Store.Secrets.Get(name)
		switch {
		case err != nil:
			return nil, err
		case c.cfg.Vault == nil:
			return nil, protocol.Errorf(protocol.CodeUnavailable, op, "this hub has no vault")
		case stored.Version != s.Status.Version:
			return nil, protocol.Errorf(protocol.CodeUnavailable, op, "Secret %s is being changed", name)
		}
		data, err := c.cfg.Vault.Open(stored)
		if err != nil {
			return nil, err
		}
		values := map[string]string{}
		for k, v := range data {
			values[k] = string(v)
		}
		out[name] = plan.EnvSecret{Values: values, Version: s.Status.Digest}
	}
	return out, nil
}

// See judges a boot environment for an owner before anything is made. The image stands
// for the environment; it and the condition are nil while something is looked up. key is
// the owner's UID, or what stands for it.
func (c *Room) See(f plan.Fleet, srv *resource.Server, name string, w plan.EnvFor, key string) (*resource.Image, *resource.ConditionState) {
	env := f.Env.BootEnv(name)
	if env == nil {
		return nil, noEnv(name)
	}
	arch := plan.EnvArchitecture(srv, env)
	if arch == "" {
		return nil, &resource.ConditionState{Code: resource.CondArchitectureUnknown, Message: "boot environment " + name + " is for several architectures, and that of server " + srv.Metadata.Name + " is not known; set spec.architecture of the Server"}
	}
	if !c.envImages(f, srv, env) {
		return nil, nil
	}
	book := c.envs.of(f.Of)
	inputs, key := plan.EnvInputs(f, book.shared, srv, env, w), "owner "+key+" "+srv.Metadata.Name
	cond, ok := book.see(key, inputs)
	if !ok {
		if _, err := c.compileEnv(f, srv, env, w); err != nil {
			cond = book.keep(key, again(err, inputs), envCondition(err))
		} else {
			book.keep(key, inputs, nil)
		}
	}
	if cond != nil {
		return nil, cond
	}
	img := resource.EnvImage(env.Metadata.Name, env.Metadata.UID, arch)
	return &img, nil
}

// envImages looks up the OCI images that an environment may boot; false while a registry
// is asked. One that is not to be had is not in the bundle, which says so.
func (c *Room) envImages(f plan.Fleet, srv *resource.Server, env *resource.BootEnv) bool {
	for _, k := range plan.EnvImageKeys(f, srv, env) {
		asker := envAsker(k)
		c.envs.of(f.Of).ask(asker)
		img, cond := c.cfg.Images.Get(f.Of, images.Question{Asker: asker, Reference: k.Reference, Architecture: k.Architecture})
		if img == nil && cond == nil {
			return false
		}
		if img != nil {
			f.Env.Images[k] = *img
		}
	}
	return true
}

func envAsker(k plan.EnvImageKey) string {
	return images.EnvAskers + k.Architecture + "/" + k.Reference
}

// forgetEnvImages ends the questions about images that no environment in use names.
func (c *Room) forgetEnvImages() {
	c.cfg.Images.Forget(func(asker string) bool { return strings.HasPrefix(asker, images.EnvAskers) && !c.envs.asks(asker) })
}

// compiled is a bundle that can be made into files, with what it boots from.
type compiled struct {
	intent  message.EnvIntent // without what is sealed
	content []byte
}

// compileEnv makes the bundle of a server and judges it.
func (c *Room) compileEnv(f plan.Fleet, srv *resource.Server, env *resource.BootEnv, w plan.EnvFor) (*compiled, error) {
	secrets, err := c.envSecrets(f, srv)
	if err != nil {
		return nil, err
	}
	b, err := c.judgeEnv(plan.EnvBundle(f, srv, env, w, secrets))
	if err != nil {
		return nil, err
	}
	content, digest, err := b.Encode()
	if err != nil {
		return nil, err
	}
	if len(content) > resource.MaxEnvBundle {
		return nil, protocol.Errorf(protocol.CodeInvalid, "compile boot environment", "with its params and templates it has %d bytes, more than %d", len(content), resource.MaxEnvBundle).
			WithHint("shorten templates and params; large files belong into an ISO or an image")
	}
	return &compiled{intent: message.EnvIntent{Name: b.BootEnv, Bundle: digest, ISOs: b.ISOs, Images: b.Images}, content: content}, nil
}

// Seal makes the bundle of a configuration and seals it for the agent of its server
// where that is due: for the first time, because something in it has changed, or because
// the agent has another key or is another one. What cannot be made or sealed leaves what
// was sealed before in force, with a condition.
func (c *Room) Seal(ctx context.Context, f plan.Fleet, b *resource.BootConfiguration) (*resource.ConditionState, error) {
	if !plan.EnvNeeded(b) || b.Metadata.DeletedAt != nil {
		return nil, nil
	}
	srv, err := store.Peek[*resource.Server](c.cfg.Store.Objects, b.Spec.Server)
	a := c.cfg.Store.Objects.AgentOf(b.Spec.Server)
	if err != nil || a == nil { // CondNoAgent is said elsewhere
		return nil, nil //nolint:nilerr // the server is gone, and with it what it boots
	}
	not := func(why string) *resource.ConditionState {
		return &resource.ConditionState{Code: resource.CondBootEnvNotSealed, Message: why}
	}
	env := f.Env.BootEnv(b.Spec.BootEnv)
	switch {
	case env == nil:
		return noEnv(b.Spec.BootEnv), nil
	case len(a.Spec.SealKey) == 0:
		return not("agent " + a.Metadata.Name + " has given no key for secrets; it says it in its Hello from the release on that opens them"), nil
	case !c.envImages(f, srv, env):
		return nil, nil
	}
	book := c.envs.of(f.Of)
	w, have := plan.EnvForConfig(b), c.cfg.Store.Envs.Peek(b.Metadata.Name)
	fits := sealsEnv(have, b, a)
	inputs, key := plan.EnvInputs(f, book.shared, srv, env, w), "config "+b.Metadata.UID
	if cond, ok := book.see(key, inputs); ok && (fits || cond != nil) {
		return cond, nil
	}
	made, err := c.compileEnv(f, srv, env, w)
	if err != nil {
		return book.keep(key, again(err, inputs), envCondition(err)), nil
	}
	if fits && have.Bundle == made.intent.Bundle {
		return book.keep(key, inputs, nil), nil
	}
	body, err := sealbox.SealEnv(a.Spec.SealKey, sealbox.EnvBinding{Agent: a.Metadata.Name, Server: b.Spec.Server, OwnerUID: b.Spec.Owner.UID, Bundle: made.intent.Bundle}, made.content)
	if err != nil {
		c.cfg.Seals.Failed()
		return book.keep(key, again(err, inputs), not(conditions.Text(err))), nil
	}
	next := &store.SealedEnv{
		Config: b.Metadata.Name, OwnerUID: b.Spec.Owner.UID, Server: b.Spec.Server, Agent: a.Metadata.Name, Key: sealbox.ID(a.Spec.SealKey),
		EnvIntent: made.intent, Body: body,
	}
	next.Sealed, next.Size = sealbox.Digest(body), int64(len(body))
	if have != nil {
		next.Revision = have.Revision
	}
	if err := c.cfg.Store.Envs.Put(ctx, next); err != nil {
		return nil, err
	}
	c.cfg.Seals.Sealed()
	c.cfg.Crash.At("hub.bootenv.sealed")
	c.cfg.Logger.Info("boot environment sealed", "server", b.Spec.Server, "bootenv", next.Name, "bundle", next.Bundle, "agent", next.Agent, "key", next.Key)
	return book.keep(key, inputs, nil), nil
}

// again is the inputs with which a failure is kept: none where it may be another next
// time though they are the same.
func again(err error, inputs string) string {
	switch protocol.CodeOf(err) {
	case protocol.CodeUnavailable, protocol.CodeTimeout, protocol.CodeInternal:
		return ""
	default:
		return inputs
	}
}

func noEnv(name string) *resource.ConditionState {
	return &resource.ConditionState{Code: resource.CondBootEnvInvalid, Message: "BootEnv " + name + " does not exist"}
}

// envCondition says that a bundle cannot be made.
func envCondition(err error) *resource.ConditionState {
	return &resource.ConditionState{Code: resource.CondBootEnvInvalid, Message: conditions.Text(err)}
}

// sealsEnv says whether what was sealed of a configuration's environment is for it, and
// for the present key of an agent.
func sealsEnv(v *store.SealedEnv, b *resource.BootConfiguration, a *resource.Agent) bool {
	return v != nil && a != nil && v.Agent == a.Metadata.Name && v.Key == sealbox.ID(a.Spec.SealKey) &&
		v.OwnerUID == b.Spec.Owner.UID && v.Server == b.Spec.Server && v.Name == b.Spec.BootEnv
}

// sealedEnvs is what travels of sealed environments, by configuration.
func (c *Room) sealedEnvs(f plan.Fleet) map[string]message.EnvIntent {
	out := map[string]message.EnvIntent{}
	for _, b := range f.Configs {
		if !plan.EnvNeeded(b) {
			continue
		}
		if v := c.cfg.Store.Envs.Peek(b.Metadata.Name); sealsEnv(v, b, c.cfg.Store.Objects.AgentOf(b.Spec.Server)) {
			out[b.Metadata.Name] = v.EnvIntent
		}
	}
	return out
}

// EnvBundle is the sealed environment that an agent asks for. agent is the common name of
// the certificate that TLS has verified. Everything that is not sealed for this agent, as
// it serves its rack now, is not there.
func (c *Room) EnvBundle(_ context.Context, q api.EnvBundleRequest, agent string) (api.EnvBundleAnswer, error) {
	a, err := store.Peek[*resource.Agent](c.cfg.Store.Objects, agent)
	if agent != "" && err == nil && c.cfg.Terms.Active(a) {
		if v := c.cfg.Store.Envs.For(agent, q.Sealed); v != nil {
			c.envPulls.WithLabelValues(pullDone).Inc()
			return api.EnvBundleAnswer{Body: v.Body}, nil
		}
	}
	c.envPulls.WithLabelValues(pullDenied).Inc()
	return api.EnvBundleAnswer{}, protocol.Errorf(protocol.CodeDenied, "fetch boot environment", "nothing of this digest is sealed for the agent of the certificate").
		WithHint("only the agent that serves a rack gets what is sealed for it, by its own certificate; a newer document may name another digest")
}

// Furnish fills a fleet with what is sealed, known and uploaded for its boots.
func (c *Room) Furnish(f plan.Fleet) plan.Fleet {
	f.Env.Images, f.Env.SecretVersions = c.cfg.Images.Known(), c.secretVersions()
	f.Env.ISOs, f.Made.Envs = c.isos(), c.sealedEnvs(f)
	f.Made.Ignitions, f.Made.FormerIgnitions = c.ignitions(f)
	return f
}

// Begin begins a turn of a unit: what its last one did not ask for is forgotten.
func (c *Room) Begin(f plan.Fleet) { c.envs.begin(f) }

// Forget drops what units have found that are gone, and the images that nobody asks for.
func (c *Room) Forget(there map[string]bool) {
	c.envs.forget(there)
	c.forgetEnvImages()
}
