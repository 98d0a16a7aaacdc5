package control

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"rackboot/hub/plan"

	"rackboot/pending"
	"rackboot/protocol"
)

const (
	resolveTimeout  = time.Minute
	resolvePauseMin = 2 * time.Second
	resolvePauseMax = time.Minute
)

// question is what an owner, a claim or a maintenance, needs of a registry.
type question struct {
	claimUID  string
	reference string
	arch      string
	method    protocol.BootTarget // empty for an image of a boot environment, which says itself what it needs
}

// resolver asks registries in the background until there is an image that fits
// the claim, and not again: a tag that moves later changes nothing for a server
// that was claimed before.
type resolver struct {
	images Images
	count  func(resolveOutcome)
	jobs   *pending.Set[question] // bounded by the claims

	mu    sync.Mutex
	found map[question]protocol.Image
	envs  map[question]protocol.Image  // those of found that environments ask for, which are few
	last  map[string]question          // of each asker
	waits map[question]map[string]bool // units that have asked, and not been answered
}

func newResolver(c *Control) *resolver {
	r := &resolver{images: c.cfg.Images, count: func(o resolveOutcome) { c.metrics.resolved.WithLabelValues(string(o)).Inc() }, found: map[question]protocol.Image{}, envs: map[question]protocol.Image{}}
	r.last, r.waits = map[string]question{}, map[question]map[string]bool{}
	r.jobs = pending.New(pending.Config[question]{
		Do: r.resolve, Tried: func(q question) { r.tried(c, q) }, Timeout: resolveTimeout, MinPause: resolvePauseMin, MaxPause: resolvePauseMax, Clock: c.cfg.Clock,
	})
	return r
}

// get is an owner's image, or the condition why there is none yet; both are nil
// while the registry is being asked for the first time. unit is woken when it has answered.
func (r *resolver) get(unit string, q question) (*protocol.Image, *protocol.ConditionState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if before, asked := r.last[q.claimUID]; asked && before != q {
		r.drop(before)
	}
	r.last[q.claimUID] = q
	if img, found := r.found[q]; found {
		return &img, nil
	}
	if r.waits[q] == nil {
		r.waits[q] = map[string]bool{}
	}
	r.waits[q][unit] = true
	r.jobs.Add(q)
	if _, err := r.jobs.State(q); err != nil {
		return nil, unresolved(err)
	}
	return nil, nil
}

// tried wakes who has asked.
func (r *resolver) tried(c *Control, q question) {
	r.mu.Lock()
	waits := slices.Collect(maps.Keys(r.waits[q]))
	if _, found := r.found[q]; found {
		delete(r.waits, q)
	}
	r.mu.Unlock()
	for _, unit := range waits {
		c.units.wakeUnit(unit)
	}
}

// drop forgets a question; it needs r.mu.
func (r *resolver) drop(q question) {
	delete(r.found, q)
	delete(r.envs, q)
	delete(r.waits, q)
	r.jobs.Drop(q)
	if r.last[q.claimUID] == q {
		delete(r.last, q.claimUID)
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

func unresolved(err error) *protocol.ConditionState {
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
func (r *resolver) forget(drop func(question) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, q := range r.last {
		if drop(q) {
			r.drop(q)
		}
	}
}

func (r *resolver) resolve(ctx context.Context, q question) error {
	img, err := r.images.Resolve(ctx, q.reference, q.arch)
	if err == nil && q.method != "" {
		err = r.images.Require(img, q.method)
	}
	r.count(resolutionOf(err))
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last[q.claimUID] == q { // it is still asked
		r.found[q] = img
		if strings.HasPrefix(q.claimUID, envAskers) {
			r.envs[q] = img
		}
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
	case unresolved(err).Code == protocol.CondImageInvalid:
		return resolveInvalid
	}
	return resolveUnavailable
}

// known are the images of environments that were resolved.
func (r *resolver) known() map[plan.EnvImageKey]protocol.Image {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[plan.EnvImageKey]protocol.Image{}
	for q, img := range r.envs {
		out[plan.EnvImageKey{Reference: q.reference, Architecture: q.arch}] = img
	}
	return out
}

// imageRefused files an event when a claim's image or boot environment is found to be no
// use, or for another reason than before. That a registry is away is told once, whatever
// it says each time.
func (c *Control) imageRefused(ctx context.Context, cl *protocol.Claim, now protocol.ConditionState) {
	event := protocol.EventImageRefused
	if now.Code == protocol.CondBootEnvInvalid {
		event = protocol.EventBootEnv
	}
	for _, was := range c.conds.of(cl.Metadata.Name) {
		if was.Code == now.Code && (was.Message == now.Message || now.Code == protocol.CondRegistryUnavailable) {
			return
		}
	}
	c.events.ownOf(ctx, protocol.TargetOf(cl), cl.Status.Server, event, "claim "+cl.Metadata.Name+": "+now.Message)
}
