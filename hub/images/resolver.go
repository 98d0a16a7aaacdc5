package images

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"rackboot/hub/plan"
	"rackboot/hub/wake"
	"rackboot/internal/pending"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

const (
	resolveTimeout  = time.Minute
	resolvePauseMin = 2 * time.Second
	resolvePauseMax = time.Minute
	// registriesAtOnce bounds the registries that are asked at once; each of them is asked one thing
	// after the other.
	registriesAtOnce = 8
)

// Question is what an owner, a claim or a maintenance, needs of a registry.
type Question struct {
	Asker        string
	Reference    string
	Architecture string
	Method       protocol.BootTarget // empty for an image of a boot environment, which says itself what it needs
}

// registry is whom a question is for, as the reference begins: one that hangs keeps nobody waiting who
// asks another.
func (q Question) registry() string {
	host, _, _ := strings.Cut(q.Reference, "/")
	return host
}

// registryAway says of an error that the registry does not answer, whatever it is asked.
func registryAway(err error) bool {
	code := protocol.CodeOf(err)
	return code == protocol.CodeUnavailable || code == protocol.CodeTimeout || errors.Is(err, context.DeadlineExceeded)
}

// EnvAskers begins the names of what asks for images of environments.
const EnvAskers = "bootenv/"

// asking is what a registry is asked, whoever wants to know.
type asking struct {
	reference, arch string
	method          protocol.BootTarget
}

// answer is what came of asking a registry.
type answer struct {
	image resource.Image
	err   error
	begun uint64 // when it was asked
}

// maxAnswers bounds the answers that are kept for those who ask the same.
const maxAnswers = 1000

// resolver asks registries in the background until there is an image that fits
// the claim, and not again: a tag that moves later changes nothing for a server
// that was claimed before. Claims that wait for the same are answered together.
type resolver struct {
	images Registry
	wake   *wake.Units
	count  func(resolveOutcome)
	jobs   *pending.Set[Question] // bounded by the claims

	mu    sync.Mutex
	found map[Question]resource.Image
	envs  map[Question]resource.Image  // those of found that environments ask for, which are few
	last  map[string]Question          // of each asker
	waits map[Question]map[string]bool // units that have asked, and not been answered

	// turn counts when registries were asked. An answer is one to all who wanted to know before.
	turn    uint64
	wanted  map[Question]uint64 // since when those that have no image want one
	answers map[asking]answer
}

func newResolver(room *Room) *resolver {
	r := &resolver{images: room.cfg.Registry, wake: room.wake, count: func(o resolveOutcome) { room.resolved.WithLabelValues(string(o)).Inc() }, found: map[Question]resource.Image{}, envs: map[Question]resource.Image{}}
	r.last, r.waits = map[string]Question{}, map[Question]map[string]bool{}
	r.wanted, r.answers = map[Question]uint64{}, map[asking]answer{}
	r.jobs = pending.New(pending.Config[Question]{
		Do: r.resolve, Tried: func(q Question) { r.tried(q) }, Lane: Question.registry, Lanes: registriesAtOnce, Away: registryAway, Timeout: resolveTimeout, MinPause: resolvePauseMin, MaxPause: resolvePauseMax, Clock: room.cfg.Clock,
	})
	return r
}

// get is an owner's image, or the condition why there is none yet; both are nil
// while the registry is being asked for the first time. unit is woken when it has answered.
func (r *resolver) get(unit string, q Question) (*resource.Image, *resource.ConditionState) {
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
		r.waits[q], r.wanted[q] = map[string]bool{}, r.turn
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
		delete(r.wanted, q)
	}
	r.mu.Unlock()
	for _, unit := range waits {
		r.wake.Unit(unit)
	}
}

// drop forgets a question; it needs r.mu.
func (r *resolver) drop(q Question) {
	delete(r.found, q)
	delete(r.envs, q)
	delete(r.waits, q)
	delete(r.wanted, q)
	r.jobs.Drop(q)
	if r.last[q.Asker] == q {
		delete(r.last, q.Asker)
	}
	if len(r.last) == 0 { // a map that had all claims of a fleet keeps its memory
		r.found, r.last = map[Question]resource.Image{}, map[string]Question{}
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

// Unresolved is the condition of an image that cannot be had: for now, or as it is.
func Unresolved(err error) *resource.ConditionState {
	code := resource.CondImageInvalid
	switch protocol.CodeOf(err) {
	case protocol.CodeNotFound:
		code = resource.CondImageNotFound
	case protocol.CodeConflict:
		code = resource.CondArchitectureUnknown
	case protocol.CodeUnavailable, protocol.CodeTimeout, protocol.CodeInternal, protocol.CodeDenied:
		code = resource.CondRegistryUnavailable
	default:
	}
	text := err.Error()
	if hint := protocol.HintOf(err); hint != "" { // the code's own hint is for all of them
		text += "; " + hint
	}
	return &resource.ConditionState{Code: code, Message: text}
}

// Refused says of a condition that an image is no use as it is, or not there: not for now only.
func Refused(code resource.ConditionCode) bool {
	return code == resource.CondImageInvalid || code == resource.CondImageNotFound
}

// LookingUp is the condition of an image that was not found yet.
func LookingUp(reference string) *resource.ConditionState {
	return &resource.ConditionState{Code: resource.CondImageLookup, Message: "looking up " + reference}
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
	img, err := r.ask(ctx, q)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last[q.Asker] == q { // it is still asked
		r.found[q] = img
		if strings.HasPrefix(q.Asker, EnvAskers) {
			r.envs[q] = img
		}
	}
	return nil
}

// ask asks a registry, unless somebody did since the question came, or since it was last tried: where
// a thousand servers are claimed at once, the registry is asked once.
func (r *resolver) ask(ctx context.Context, q Question) (resource.Image, error) {
	what := asking{q.Reference, q.Architecture, q.Method}
	r.mu.Lock()
	a, there := r.answers[what]
	if there && r.wanted[q] < a.begun && !registryAway(a.err) { // who waits for one that was away waits behind it
		r.tries(q) // if it was no good, the next try asks anew
		r.mu.Unlock()
		return a.image, a.err
	}
	r.turn++
	a = answer{begun: r.turn}
	r.mu.Unlock()
	if a.image, a.err = r.images.Resolve(ctx, q.Reference, q.Architecture); a.err == nil && q.Method != "" {
		a.err = r.images.Require(a.image, q.Method)
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
func (r *resolver) tries(q Question) {
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

var resolveOutcomes = []resolveOutcome{resolveDone, resolveInvalid, resolveUnavailable}

func resolutionOf(err error) resolveOutcome {
	switch {
	case err == nil:
		return resolveDone
	case Refused(Unresolved(err).Code):
		return resolveInvalid
	}
	return resolveUnavailable
}

// known are the images of environments that were resolved.
func (r *resolver) known() map[plan.EnvImageKey]resource.Image {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[plan.EnvImageKey]resource.Image{}
	for q, img := range r.envs {
		out[plan.EnvImageKey{Reference: q.Reference, Architecture: q.Architecture}] = img
	}
	return out
}
