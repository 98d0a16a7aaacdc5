package images

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"rackboot/hub/plan"
	"rackboot/hub/wake"

	"rackboot/pending"
	"rackboot/protocol"
)

const (
	resolveTimeout  = time.Minute
	resolvePauseMin = 2 * time.Second
	resolvePauseMax = time.Minute
)

// Question is what an owner, a claim or a maintenance, needs of a registry.
type Question struct {
	Asker        string
	Reference    string
	Architecture string
	Method       protocol.BootTarget // empty for an image of a boot environment, which says itself what it needs
}

// resolver asks registries in the background until there is an image that fits
// the claim, and not again: a tag that moves later changes nothing for a server
// that was claimed before.
type resolver struct {
	images Registry
	wake   *wake.Units
	count  func(resolveOutcome)
	jobs   *pending.Set[Question] // bounded by the claims

	mu    sync.Mutex
	found map[Question]protocol.Image
	last  map[string]Question          // of each asker
	waits map[Question]map[string]bool // units that have asked, and not been answered
}

func newResolver(room *Room) *resolver {
	r := &resolver{images: room.cfg.Registry, count: func(o resolveOutcome) { room.resolved.WithLabelValues(string(o)).Inc() }, wake: room.wake, found: map[Question]protocol.Image{}}
	r.last, r.waits = map[string]Question{}, map[Question]map[string]bool{}
	r.jobs = pending.New(pending.Config[Question]{
		Do: r.resolve, Tried: r.tried, Timeout: resolveTimeout, MinPause: resolvePauseMin, MaxPause: resolvePauseMax, Clock: room.cfg.Clock,
	})
	return r
}

// get is an owner's image, or the condition why there is none yet; both are nil
// while the registry is being asked for the first time. unit is woken when it has answered.
func (r *resolver) get(unit string, q Question) (*protocol.Image, *protocol.ConditionState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if before, asked := r.last[q.Asker]; asked && before != q {
		r.drop(before)
	}
	r.last[q.Asker] = q
	if img, found := r.found[q]; found {
		return &img, nil
	}
	if r.waits[q] == nil {
		r.waits[q] = map[string]bool{}
	}
	r.waits[q][unit] = true
	r.jobs.Add(q)
	if _, err := r.jobs.State(q); err != nil {
		return nil, Unresolved(err)
	}
	return nil, nil
}

// tried wakes who has asked.
func (r *resolver) tried(q Question) {
	r.mu.Lock()
	waits := slices.Collect(maps.Keys(r.waits[q]))
	if _, found := r.found[q]; found {
		delete(r.waits, q)
	}
	r.mu.Unlock()
	for _, unit := range waits {
		r.wake.Unit(unit)
	}
}

// drop forgets a question; it needs r.mu.
func (r *resolver) drop(q Question) {
	delete(r.found, q)
	delete(r.waits, q)
	r.jobs.Drop(q)
	if r.last[q.Asker] == q {
		delete(r.last, q.Asker)
	}
}

// forgetOf drops what an owner has asked.
func (r *resolver) forgetOf(claimUID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if q, asked := r.last[claimUID]; asked {
		r.drop(q)
	}
}

func Unresolved(err error) *protocol.ConditionState {
	code := protocol.CondImageInvalid
	switch protocol.CodeOf(err) {
	case protocol.CodeUnavailable, protocol.CodeTimeout, protocol.CodeInternal, protocol.CodeDenied:
		code = protocol.CondRegistryUnavailable
	default:
	}
	text := err.Error()
	if hint := protocol.HintOf(err); hint != "" { // the code's own hint is for all of them
		text += "; " + hint
	}
	return &protocol.ConditionState{Code: code, Message: text}
}

// forget drops what nobody asks any more.
func (r *resolver) forget(drop func(Question) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, q := range r.last {
		if drop(q) {
			r.drop(q)
		}
	}
}

func (r *resolver) resolve(ctx context.Context, q Question) error {
	img, err := r.images.Resolve(ctx, q.Reference, q.Architecture)
	if err == nil && q.Method != "" {
		err = r.images.Require(img, q.Method)
	}
	r.count(resolutionOf(err))
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last[q.Asker] == q { // it is still asked
		r.found[q] = img
	}
	return nil
}

// resolveOutcome is a label of rackboot_hub_image_resolutions_total.
type resolveOutcome string

const (
	resolveDone        resolveOutcome = "resolved"
	resolveInvalid     resolveOutcome = "invalid"
	resolveUnavailable resolveOutcome = "unavailable"
)

func resolveOutcomes() []resolveOutcome {
	return []resolveOutcome{resolveDone, resolveInvalid, resolveUnavailable}
}

func resolutionOf(err error) resolveOutcome {
	switch {
	case err == nil:
		return resolveDone
	case Unresolved(err).Code == protocol.CondImageInvalid:
		return resolveInvalid
	}
	return resolveUnavailable
}

// known are the images that askers with a prefix have got.
func (r *resolver) known(askers string) map[plan.EnvImageKey]protocol.Image {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[plan.EnvImageKey]protocol.Image{}
	for q, img := range r.found {
		if strings.HasPrefix(q.Asker, askers) {
			out[plan.EnvImageKey{Reference: q.Reference, Architecture: q.Architecture}] = img
		}
	}
	return out
}
