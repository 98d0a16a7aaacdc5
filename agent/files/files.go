package files

import (
	"context"
	"sync"
	"time"

	"rackboot/agent/store"
	"rackboot/netboot"
	"rackboot/netboot/chain"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Room has the files of the rack's servers. Make it with New, then call Run once. All
// methods but Keep are safe for concurrent use, and only Run waits.
type Room struct {
	images   *images
	uploads  *uploads
	userData *userData
	envs     *envs
	pins     *pins
}

// New makes the room. Nothing is fetched before Run.
func New(cfg Config) *Room {
	r := &Room{uploads: newUploads(&cfg), userData: newUserData(&cfg), pins: newPins(&cfg)}
	r.images = newImages(&cfg, r.uploads)
	r.envs = newEnvs(&cfg, r.images, r.uploads)
	return r
}

// Run brings what is wanted until ctx ends.
func (r *Room) Run(ctx context.Context) {
	var lines sync.WaitGroup
	lines.Go(func() { r.images.jobs.Run(ctx) })
	lines.Go(func() { r.userData.jobs.Run(ctx) })
	lines.Go(func() {
		defer r.envs.close()
		r.envs.jobs.Run(ctx)
	})
	lines.Go(func() { r.uploads.jobs.Run(ctx) })
	lines.Wait()
}

// Want asks for the files of a boot, and for those of the one that it may return to.
func (r *Room) Want(in message.ServerIntent) {
	for _, b := range in.Boot.All() {
		if b.Env == nil {
			r.images.want(b.Image)
		}
		in.Boot = b
		r.userData.want(in)
	}
}

// Foresee asks for the files of what the rack's agent may boot, which this one stands by for. What boots from
// its disk needs none.
func (r *Room) Foresee(o store.Overview) {
	for _, in := range o.Intents {
		b := in.Boot
		if b == nil || in.Missing || len(b.Provisioned) > 0 && b.BootPolicy.Boot == resource.BootHdd {
			continue
		}
		r.Want(in.ServerIntent)
	}
}

// State returns what a decision sees of all that a boot needs.
func (r *Room) State(in message.ServerIntent) decide.Artefacts {
	if in.Boot.Env != nil {
		return r.userData.with(r.envs.state(in), in.Boot.Ignition)
	}
	return r.userData.with(r.images.state(in.Boot.Image), in.Boot.Ignition)
}

// Keep takes over what the documents and the records say. Files of every image that a
// document names and of every open boot stay, with their user data. User data that nothing
// names any more is destroyed. Environments that are wanted now are made. It is called by
// one goroutine at a time.
func (r *Room) Keep(o store.Overview) {
	files := r.images.keep(o)
	for _, digest := range append(r.userData.keep(o), r.envs.keep(o)...) {
		files[digest] = true
	}
	r.pins.keep(o.Rack.Keep, files)
	r.userData.destroy(files)
	r.envs.want(o)
}

// Chain returns what a server would boot its environment through now. Before the
// environment is there the chain is empty, and State says why.
func (r *Room) Chain(q chain.Request, in message.ServerIntent) (protocol.BootChain, error) {
	return r.envs.chain(q, in)
}

// Report returns what is served of a server's environment; nil if it boots none.
func (r *Room) Report(in message.ServerIntent) *resource.EnvReport { return r.envs.report(in) }

// OpenUserData opens the user data of a server that is on disk.
func (r *Room) OpenUserData(server, claim string, ref message.IgnitionIntent) ([]byte, error) {
	return r.userData.open(server, claim, ref)
}

// Environment returns the environment that is in force for a server, if it is of the
// generation. It stays open until it is released.
func (r *Room) Environment(server, generation string) (*Environment, bool) {
	return r.envs.acquire(server, generation)
}

// OpenEnv opens a file of a server's environment, which stays open as long as the file is.
// at is the file's time of change.
func (r *Room) OpenEnv(server, generation, name string, at time.Time) (*netboot.File, error) {
	return r.envs.open(server, generation, name, at)
}
