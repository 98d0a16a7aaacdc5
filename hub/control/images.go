package control

import (
	"context"
	"maps"
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
}

func newResolver(c *Control) *resolver {
	r := &resolver{images: c.cfg.Images, count: func(o resolveOutcome) { c.metrics.resolved.WithLabelValues(string(o)).Inc() }, found: map[question]protocol.Image{}}
	r.jobs = pending.New(pending.Config[question]{
		Do: r.resolve, Tried: c.poke, Timeout: resolveTimeout, MinPause: resolvePauseMin, MaxPause: resolvePauseMax, Clock: c.cfg.Clock,
	})
	return r
}

// get is an owner's image, or the condition why there is none yet; both are nil
// while the registry is being asked for the first time.
func (r *resolver) get(q question) (*protocol.Image, *protocol.ConditionState) {
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
	text := err.Error()
	if hint := protocol.HintOf(err); hint != "" { // the code's own hint is for all of them
		text += "; " + hint
	}
	return &protocol.ConditionState{Code: code, Message: text}
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
	if err == nil && q.method != "" {
		err = r.images.Require(img, q.method)
	}
	r.count(resolutionOf(err))
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found[q] = img
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
	for q, img := range r.found {
		if strings.HasPrefix(q.claimUID, envAskers) {
			out[plan.EnvImageKey{Reference: q.reference, Architecture: q.arch}] = img
		}
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
