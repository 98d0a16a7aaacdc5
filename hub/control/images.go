package control

import (
	"context"
	"maps"
	"sync"
	"time"

	"rackboot/pending"
	"rackboot/protocol"
)

const (
	resolveTimeout  = time.Minute
	resolvePauseMin = 2 * time.Second
	resolvePauseMax = time.Minute
)

// question is what a claim needs of a registry.
type question struct {
	claimUID  string
	reference string
	arch      string
	method    protocol.BootTarget
}

// resolver asks registries in the background until there is an image that fits
// the claim, and not again: a tag that moves later changes nothing for a server
// that was claimed before.
type resolver struct {
	images Images
	jobs   *pending.Set[question] // bounded by the claims

	mu    sync.Mutex
	found map[question]protocol.Image
}

func newResolver(c *Control) *resolver {
	r := &resolver{images: c.cfg.Images, found: map[question]protocol.Image{}}
	r.jobs = pending.New(pending.Config[question]{
		Do: r.resolve, Tried: c.poke, Timeout: resolveTimeout, MinPause: resolvePauseMin, MaxPause: resolvePauseMax, Clock: c.cfg.Clock,
	})
	return r
}

// get is the claim's image, or the condition why there is none yet; both are nil
// while the registry is being asked for the first time.
func (r *resolver) get(c *protocol.Claim, arch string) (*protocol.Image, *protocol.ConditionState) {
	q := question{c.Metadata.UID, c.Spec.Image, arch, c.Spec.BootPolicy.FirstBoot.Target()}
	r.forget(func(o question) bool { return o.claimUID == q.claimUID && o != q })
	r.jobs.Add(q)
	done, err := r.jobs.State(q)
	if err != nil {
		return nil, unresolved(err)
	}
	if !done {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	img := r.found[q]
	return &img, nil
}

func unresolved(err error) *protocol.ConditionState {
	code := protocol.CondImageInvalid
	switch protocol.CodeOf(err) {
	case protocol.CodeUnavailable, protocol.CodeTimeout, protocol.CodeInternal, protocol.CodeDenied:
		code = protocol.CondRegistryUnavailable
	default:
	}
	return &protocol.ConditionState{Code: code, Message: err.Error()}
}

// forget drops what nobody asks any more.
func (r *resolver) forget(drop func(question) bool) {
	r.jobs.Keep(func(q question) bool { return !drop(q) })
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.found, func(q question, _ protocol.Image) bool { return drop(q) })
}

func (r *resolver) resolve(ctx context.Context, q question) error {
	img, err := r.images.Resolve(ctx, q.reference, q.arch)
	if err == nil {
		err = r.images.Require(img, q.method)
	}
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found[q] = img
	return nil
}
