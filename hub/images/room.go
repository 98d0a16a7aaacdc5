package images

import (
	"context"
	"sync"

	"rackboot/hub/conditions"
	"rackboot/hub/events"
	"rackboot/hub/plan"
	"rackboot/hub/plan/bootimages"
	"rackboot/hub/store"
	"rackboot/hub/wake"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// Config is what a Room is made of.
type Config struct {
	BootImages *store.BootImages
	Objects    *store.Objects
	Registry   Registry
	// Files has the files of boot images; nil where there are none.
	Files Files
	// Verifier judges OCI images of entries that want it; nil refuses those.
	Verifier Verifier
	Events   *events.Log
	Wake     *wake.Units
	Clock    state.Clock
	Crash    state.Crasher // nil in production
}

// Room has what was resolved and verified. It is safe for concurrent use.
type Room struct {
	cfg      Config
	wake     *wake.Units
	conds    *conditions.Book // of entries
	resolver *resolver
	files    *bootFiles
	signed   *signatures
	metrics
}

// New makes a Room that knows only what is stored.
func New(cfg Config) *Room {
	r := &Room{cfg: cfg, wake: cfg.Wake, conds: conditions.New(), metrics: newMetrics()}
	r.resolver, r.files, r.signed = newResolver(r), newBootFiles(r), newSignatures(r)
	return r
}

// Run asks for what is wanted until ctx ends.
func (r *Room) Run(ctx context.Context) {
	var jobs sync.WaitGroup
	for _, run := range []func(context.Context){r.resolver.jobs.Run, r.files.jobs.Run, r.signed.jobs.Run} {
		jobs.Go(func() { run(ctx) })
	}
	jobs.Wait()
}

// Work asks for what is due, once, for callers that do not Run it.
func (r *Room) Work(ctx context.Context) {
	r.resolver.jobs.Work(ctx)
	r.files.jobs.Work(ctx)
	r.signed.jobs.Work(ctx)
}

// Get is the image of an OCI reference, or the condition why there is none yet; both are nil while the registry
// is being asked for the first time. unit is woken when it has answered.
func (r *Room) Get(unit string, q Question) (*resource.Image, *resource.ConditionState) {
	return r.resolver.get(unit, q)
}

// Resolve asks the registry now; see [Registry].
func (r *Room) Resolve(ctx context.Context, ref, architecture string) (resource.Image, error) {
	return r.cfg.Registry.Resolve(ctx, ref, architecture)
}

// Require says why an image is no use for a boot method; nil if it is one.
func (r *Room) Require(img resource.Image, method protocol.BootTarget) error {
	return r.cfg.Registry.Require(img, method)
}

// Forget drops the questions of askers that ask no more.
func (r *Room) Forget(drop func(asker string) bool) {
	r.resolver.forget(func(q Question) bool { return drop(q.Asker) })
}

// ForgetOf drops what one asker has asked.
func (r *Room) ForgetOf(asker string) { r.resolver.forgetOf(asker) }

// Known are the images of environments that were resolved.
func (r *Room) Known() map[plan.EnvImageKey]resource.Image { return r.resolver.known() }

// Remembered is how many images are known.
func (r *Room) Remembered() int {
	r.resolver.mu.Lock()
	defer r.resolver.mu.Unlock()
	return len(r.resolver.found)
}

// Signed is how far the signature of an entry's image for an architecture is, and why it is not proved.
func (r *Room) Signed(b *resource.BootImage, arch string) (bootimages.Seen, error) {
	return r.signed.seen(b, arch)
}

// Conditions are those of an entry of the catalogue.
func (r *Room) Conditions(entry string) []resource.ConditionState { return r.conds.Of(entry) }
