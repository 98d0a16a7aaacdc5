package files

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"rackboot/agent/store"
	"rackboot/internal/pending"
	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

const (
	envTimeout  = 10 * time.Minute // for one server, with what a package repository gives
	envPauseMin = time.Second
	envPauseMax = 15 * time.Second
)

// envs makes the files of boot environments. What a server would boot is made aside and
// takes the place of what was there before as a whole (P8): it is there with all that it
// needs, or what was there before stays, with the reason.
type envs struct {
	cfg     *Config
	images  *images
	uploads *uploads
	jobs    *pending.Set[envKey]
	read    readFiles
	last    string // whose was made last; used by the jobs only

	mu     sync.Mutex
	wanted map[string]message.ServerIntent // by server; bounded by the rack
	built  map[string]*Environment         // in force, by server
	again  map[string]bool                 // servers whose record of what was in force was tried since the start
}

// envKey is what one making depends on besides what is on the agent's own disk.
type envKey struct {
	server, claim, bundle, sealed, base string
}

func newEnvs(cfg *Config, i *images, u *uploads) *envs {
	e := &envs{cfg: cfg, images: i, uploads: u, wanted: map[string]message.ServerIntent{}, built: map[string]*Environment{}, again: map[string]bool{}}
	e.jobs = pending.New(pending.Config[envKey]{
		Do: e.make, Tried: func(envKey) { e.tried() }, Timeout: envTimeout, MinPause: envPauseMin, MaxPause: envPauseMax, Clock: cfg.Clock,
	})
	return e
}

// keyOf is what the environment of a server is made of now; a zero key where it has none.
func (e *envs) keyOf(in message.ServerIntent) envKey {
	if in.Boot == nil || in.Boot.Env == nil {
		return envKey{}
	}
	k := envKey{server: in.Server, claim: in.Owner.UID, bundle: in.Boot.Env.Bundle, sealed: in.Boot.Env.Sealed}
	if seg, ok := e.cfg.Boots.Segment(in.Segment); ok {
		k.base, _ = netboot.BaseURL(seg)
		if seg.IPv6 != nil {
			six, _ := netboot.BaseURL6(seg.Name, *seg.IPv6)
			k.base += " " + six
		}
	}
	return k
}

// want takes over what the documents say. Servers without an environment lose theirs.
func (e *envs) want(o store.Overview) {
	wanted, keys := map[string]message.ServerIntent{}, map[envKey]bool{}
	for _, in := range o.Intents {
		if k := e.keyOf(in.ServerIntent); k.sealed != "" {
			wanted[in.Server], keys[k] = in.ServerIntent, true
		}
	}
	e.mu.Lock()
	e.wanted = wanted
	var gone []*Environment
	for name, b := range e.built {
		if _, ok := wanted[name]; !ok {
			gone = append(gone, b)
			delete(e.built, name)
		}
	}
	maps.DeleteFunc(e.again, func(name string, _ bool) bool { _, ok := wanted[name]; return !ok })
	e.mu.Unlock()
	for _, b := range gone {
		b.view.Release()
		e.note(e.cfg.Store.Envs.Drop(b.server))
	}
	e.jobs.Keep(func(k envKey) bool { return keys[k] })
	for k := range keys {
		e.jobs.Add(k)
	}
	e.sweep()
}

func (e *envs) note(err error) {
	if err != nil {
		e.cfg.Logger.Error("boot environments", "err", err)
	}
}

// waits is an error of what is on its way.
type waits struct{ error }

// Unwrap gives the error itself.
func (w waits) Unwrap() error { return w.error }

func isWaiting(err error) bool {
	_, ok := errors.AsType[waits](err)
	return ok
}

// state is what a decision sees of a server's environment.
func (e *envs) state(in message.ServerIntent) decide.Artefacts {
	k := e.keyOf(in)
	if k.sealed == "" {
		return decide.Artefacts{} // the hub says why
	}
	done, err := e.jobs.State(k)
	if b := e.of(in.Server); done && b != nil && b.intent.Bundle == k.bundle {
		return decide.Artefacts{Local: true, Destructive: b.destructive}
	}
	if err == nil || isWaiting(err) {
		return decide.Artefacts{}
	}
	return decide.Artefacts{Failed: &resource.ConditionState{Code: resource.CondArtefactsFailed, Message: "boot environment " + in.Boot.Env.Name + ": " + protocol.Advice(err)}}
}

// of is what is in force for a server; nil is nothing.
func (e *envs) of(server string) *Environment {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.built[server]
}

// acquire is what is in force for a server if it is of a generation. Its view stays open
// until it is released.
func (e *envs) acquire(server, generation string) (*Environment, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.built[server]
	if b == nil || b.generation != generation || !b.view.Acquire() {
		return nil, false
	}
	return b, true
}

// tried makes the server's loop look at what came of it: of a rack whose environments all
// change, each server is looked at once.
func (e *envs) tried() { e.cfg.Servers.Look(e.last) }

// make makes one aside, and puts it in the place of what was there.
func (e *envs) make(ctx context.Context, k envKey) error {
	defer e.sweep()
	e.last = k.server
	e.mu.Lock()
	in, ok := e.wanted[k.server]
	again := e.again[k.server]
	e.mu.Unlock()
	if !ok || e.keyOf(in) != k {
		return nil // another one is asked for by now
	}
	if !again {
		if err := e.restore(ctx, in); err != nil {
			return err
		}
		e.mu.Lock()
		e.again[k.server] = true
		e.mu.Unlock()
	}
	next, err := e.build(ctx, k.server, k.claim, *in.Boot.Env, in)
	if err != nil {
		if !isWaiting(err) {
			e.cfg.Logger.Warn("a boot environment is refused", "server", k.server, "bootenv", in.Boot.Env.Name, "err", err)
		}
		return err
	}
	return e.swap(next)
}

// restore makes what was in force before the agent was started: it is what is served if
// the newest is refused. The error is of what is on its way, as uploaded files are that
// have to be verified first.
func (e *envs) restore(ctx context.Context, in message.ServerIntent) error {
	was, err := e.cfg.Store.Envs.Of(in.Server)
	e.note(err)
	if was == nil || was.OwnerUID != in.Owner.UID {
		return nil
	}
	b, err := e.build(ctx, was.Server, was.OwnerUID, was.Intent, in)
	if err == nil {
		err = e.swap(b)
	}
	if isWaiting(err) {
		return err
	}
	if err != nil {
		e.cfg.Logger.Warn("the boot environment that was in force cannot be made again", "server", was.Server, "bootenv", was.Intent.Name, "err", err)
	}
	return nil
}

// swap puts an environment in the place of the one before, on disk first. One that a
// machine boots from stays until that has ended.
func (e *envs) swap(next *Environment) error {
	was := e.of(next.server)
	if was != nil && was.generation != next.generation && e.cfg.Boots.Serves(next.server, was.generation) {
		next.view.Release()
		return waits{protocol.Errorf(protocol.CodeConflict, "change boot environment", "%s boots from the files that are there", next.server).
			WithHint("it is changed when this boot has ended")}
	}
	if was == nil || was.generation != next.generation || was.intent.Sealed != next.intent.Sealed {
		if err := e.cfg.Store.Envs.Put(store.Env{
			Server: next.server, OwnerUID: next.claim, Intent: next.intent, OS: next.os, Generation: next.generation, Source: next.source, At: next.at,
		}); err != nil {
			next.view.Release()
			return err
		}
		e.cfg.Crash.At("agent.env.changed")
	}
	e.mu.Lock()
	_, wanted := e.wanted[next.server]
	if wanted {
		e.built[next.server] = next
	}
	e.mu.Unlock()
	if !wanted {
		was = next
		e.note(e.cfg.Store.Envs.Drop(next.server))
	}
	if was != nil {
		was.view.Release()
	}
	if was == nil || was.generation != next.generation {
		e.cfg.Logger.Info("boot environment is in force", "server", next.server, "bootenv", next.intent.Name, "generation", next.generation, "source", string(next.source))
	}
	return nil
}

// keep says which blobs must stay: of what is wanted, and of what is in force.
func (e *envs) keep(o store.Overview) (pins []string) {
	uploaded, named := map[string]bool{}, map[string]bool{}
	add := func(in message.EnvIntent) {
		if in.Sealed != "" {
			pins = append(pins, in.Sealed)
		}
		for _, iso := range in.ISOs {
			pins = append(pins, iso.Digest)
			uploaded[iso.Digest] = true
		}
		for _, image := range in.Images {
			for _, art := range image.Artefacts {
				pins = append(pins, art.Digest)
			}
		}
	}
	for _, in := range o.Intents {
		if in.Boot == nil {
			continue
		}
		for _, digest := range in.Boot.HubFiles() { // what is on its way of an image stays too
			uploaded[digest] = true
		}
		if in.Boot.Env != nil {
			named[in.Server] = true
			add(*in.Boot.Env)
		}
	}
	all, err := e.cfg.Store.Envs.All()
	e.note(err)
	for _, was := range all {
		if named[was.Server] {
			add(was.Intent)
		} else {
			e.note(e.cfg.Store.Envs.Drop(was.Server))
		}
	}
	e.uploads.Keep(func(digest string) bool { return uploaded[digest] })
	return pins
}

// close releases all views.
func (e *envs) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for name, b := range e.built {
		b.view.Release()
		delete(e.built, name)
	}
}
