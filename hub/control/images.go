package control

import (
	"context"
	"sync"
	"time"

	"rackboot/protocol"
)

const (
	resolveTimeout  = time.Minute
	resolvePauseMin = 2 * time.Second
	resolvePauseMax = time.Minute
)

// resolver asks registries in the background until there is an image that fits
// the claim, and not again: a tag that moves later changes nothing for a server
// that was claimed before.
type resolver struct {
	control *Control
	poked   chan struct{}

	mu   sync.Mutex
	jobs map[string]*resolving // by claim UID; bounded by the claims
}

type resolving struct {
	ref, arch string
	method    protocol.BootTarget
	image     *protocol.Image
	cond      *protocol.ConditionState
	pause     time.Duration
	next      time.Time
}

func newResolver(c *Control) *resolver {
	return &resolver{control: c, poked: make(chan struct{}, 1), jobs: map[string]*resolving{}}
}

// get is the claim's image, or the condition why there is none yet; both are nil
// while the registry is being asked for the first time.
func (r *resolver) get(c *protocol.Claim, arch string) (*protocol.Image, *protocol.ConditionState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	j := r.jobs[c.Metadata.UID]
	method := c.Spec.BootPolicy.FirstBoot.Target()
	if j == nil || j.ref != c.Spec.Image || j.arch != arch || j.method != method {
		r.jobs[c.Metadata.UID] = &resolving{ref: c.Spec.Image, arch: arch, method: method}
		select {
		case r.poked <- struct{}{}:
		default:
		}
		return nil, nil
	}
	return j.image, j.cond
}

func (r *resolver) forget(claimUID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.jobs, claimUID)
}

func (r *resolver) run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-r.poked:
		}
		wait := resolvePauseMax
		for {
			j, until := r.due()
			if j == nil {
				wait = until
				break
			}
			r.resolve(ctx, j)
			if ctx.Err() != nil {
				return nil
			}
			r.control.poke()
		}
		timer.Reset(wait)
	}
}

func (r *resolver) due() (*resolving, time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, wait := r.control.cfg.Clock(), resolvePauseMax
	for _, j := range r.jobs {
		if j.image != nil {
			continue
		}
		if !now.Before(j.next) {
			return j, 0
		}
		wait = min(wait, j.next.Sub(now))
	}
	return nil, wait
}

func (r *resolver) resolve(ctx context.Context, j *resolving) {
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	img, err := r.control.cfg.Images.Resolve(ctx, j.ref, j.arch)
	if err == nil {
		err = r.control.cfg.Images.Require(img, j.method)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		j.image, j.cond = &img, nil
		return
	}
	code := protocol.CondImageInvalid
	switch protocol.CodeOf(err) {
	case protocol.CodeUnavailable, protocol.CodeTimeout, protocol.CodeInternal, protocol.CodeDenied:
		code = protocol.CondRegistryUnavailable
	default:
	}
	j.cond = &protocol.ConditionState{Code: code, Message: err.Error()}
	j.pause = min(max(j.pause*2, resolvePauseMin), resolvePauseMax)
	j.next = r.control.cfg.Clock().Add(j.pause)
}
