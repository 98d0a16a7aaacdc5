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

// asking is what a registry is asked, whoever wants to know.
type asking struct {
	reference, arch string
	method          protocol.BootTarget
}

// answer is what came of asking a registry.
type answer struct {
	image protocol.Image
	err   error
	begun uint64 // when it was asked
}

// maxAnswers bounds the answers that are kept for those who ask the same.
const maxAnswers = 1000

// resolver asks registries in the background until there is an image that fits
// the claim, and not again: a tag that moves later changes nothing for a server
// that was claimed before. Claims that wait for the same are answered together.
type resolver struct {
	images Images
	count  func(resolveOutcome)
	jobs   *pending.Set[question] // bounded by the claims

	mu    sync.Mutex
	found map[question]protocol.Image
	envs  map[question]protocol.Image  // those of found that environments ask for, which are few
	last  map[string]question          // of each asker
	waits map[question]map[string]bool // units that have asked, and not been answered

	// turn counts when registries were asked. An answer is one to all who wanted to know before.
	turn    uint64
	wanted  map[question]uint64 // since when those that have no image want one
	answers map[asking]answer
}

func newResolver(c *Control) *resolver {
	r := &resolver{images: c.cfg.Images, count: func(o resolveOutcome) { c.metrics.resolved.WithLabelValues(string(o)).Inc() }, found: map[question]protocol.Image{}, envs: map[question]protocol.Image{}}
	r.last, r.waits = map[string]question{}, map[question]map[string]bool{}
	r.wanted, r.answers = map[question]uint64{}, map[asking]answer{}
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
		r.waits[q], r.wanted[q] = map[string]bool{}, r.turn
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
		delete(r.wanted, q)
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
	delete(r.wanted, q)
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
	img, err := r.ask(ctx, q)
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

// ask asks a registry, unless somebody did since the question came, or since it was last tried: where
// a thousand servers are claimed at once, the registry is asked once.
func (r *resolver) ask(ctx context.Context, q question) (protocol.Image, error) {
	what := asking{q.reference, q.arch, q.method}
	r.mu.Lock()
	a, there := r.answers[what]
	if there && r.wanted[q] < a.begun {
		r.tries(q) // if it was no good, the next try asks anew
		r.mu.Unlock()
		return a.image, a.err
	}
	r.turn++
	a = answer{begun: r.turn}
	r.mu.Unlock()
	if a.image, a.err = r.images.Resolve(ctx, q.reference, q.arch); a.err == nil && q.method != "" {
		a.err = r.images.Require(a.image, q.method)
	}
	r.count(resolutionOf(a.err))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tries(q)
	if len(r.answers) >= maxAnswers {
		clear(r.answers)
	}
	r.answers[what] = a
	return a.image, a.err
}

// tries notes that a question was tried; it needs r.mu.
func (r *resolver) tries(q question) {
	if _, waits := r.wanted[q]; waits { // nobody has dropped it meanwhile
		r.wanted[q] = r.turn
	}
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
