package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"rackboot/integration/powerlog"
	"rackboot/integration/storm/judge"
	"rackboot/integration/storm/rig"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// pollEvery is the pause between two polls, and pollFor bounds one.
const (
	pollEvery = 300 * time.Millisecond
	pollFor   = 3 * time.Second
)

// behind is how much later than it was written a hub may show what another one wrote: it hears of it.
const behind = 2 * time.Second

var errNoHub = errors.New("no hub is there that no fault has struck")

// poller reads what is stored, by the API. It is safe for concurrent use.
type poller struct {
	site  *rig.Site
	begun judge.Time

	mu       sync.Mutex
	polls    []judge.Poll
	servers  map[string]seen
	requests map[string]judge.Request // that are followed
}

// seen is a server as the last poll had it.
type seen struct {
	claim       bool     // there is one
	holds       []string // that lie on it
	provisioned bool
	on          bool
	unexpected  bool // it waits for a resume
	runs        bool // it was found On before its first boot, and is left alone
	invalid     bool // its grant was given to an earlier disk: it needs another claim
	spent       bool // its first boot was interrupted after its grant was used up
	undecided   bool // somebody has to say what is on its disk
	conditions  []resource.ConditionCode
}

func newPoller(s *rig.Site) *poller {
	return &poller{site: s, begun: powerlog.Now(), servers: map[string]seen{}, requests: map[string]judge.Request{}}
}

func (p *poller) run(ctx context.Context) {
	for ctx.Err() == nil {
		_ = p.once(ctx) // a hub that does not answer is what storms are for
		pause(ctx, pollEvery)
	}
}

// follow reads a request with each poll until it has ended.
func (p *poller) follow(id string) {
	if id == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests[id] = judge.Request{ID: id, Outcome: resource.OutcomePending}
}

// ended reports whether a request has ended.
func (p *poller) ended(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests[id].Outcome != resource.OutcomePending
}

func (p *poller) server(name string) *seen {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, ok := p.servers[name]
	if !ok {
		return nil
	}
	return &s
}

func (p *poller) all() []judge.Poll {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.polls)
}

// once reads everything. A poll that is not whole counts for nothing.
func (p *poller) once(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pollFor)
	defer cancel()
	c, at := p.site.Client, judge.Poll{From: powerlog.Now()}
	if m := p.site.Several; m != nil {
		if c = m.Sound(); c == nil {
			return errNoHub
		}
		at.From = at.From.Add(-behind)
	}
	holds, err := api.GetAll[*resource.Hold](ctx, c)
	if err != nil {
		return err
	}
	for _, h := range holds {
		at.Holds = append(at.Holds, judge.Hold{
			ID: h.Metadata.Name, Server: h.Spec.Server, Key: h.Spec.Key, State: h.Status.State, Released: h.Status.ReleasedAt != nil, StoppedSince: p.since(h),
		})
	}
	claims, err := api.GetAll[*resource.Claim](ctx, c)
	if err != nil {
		return err
	}
	for _, x := range claims {
		at.Claims = append(at.Claims, x.Metadata.Name)
	}
	configs, err := api.GetAll[*resource.BootConfiguration](ctx, c)
	if err != nil {
		return err
	}
	for _, b := range configs {
		if len(b.Spec.Grant) == 0 {
			continue
		}
		at.Grants = append(at.Grants, judge.Grant{
			Server: b.Spec.Server, Claim: b.Spec.Owner.Name, OwnerUID: b.Spec.Owner.UID, Generation: b.Metadata.Generation,
			Repeat: b.Spec.BootPolicy.Boot == resource.BootNetwork, Provisioned: len(b.Status.SignedProvisioned) > 0,
		})
	}
	servers, err := api.GetAll[*resource.Server](ctx, c)
	if err != nil {
		return err
	}
	if at.Requests, err = p.read(ctx, c); err != nil {
		return err
	}
	at.To = powerlog.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.polls = append(p.polls, at)
	for _, s := range servers {
		v := look(s, at)
		for _, x := range claims {
			if x.Metadata.Name == rig.ClaimName(s.Metadata.Name) {
				v.lookAt(x)
			}
		}
		p.servers[s.Metadata.Name] = v
	}
	return nil
}

// since is the receipt's time by the storm's clock. One that is not of this storm is of a clock
// that was stepped, and says nothing.
func (p *poller) since(h *resource.Hold) judge.Time {
	if h.Status.Receipt == nil {
		return 0
	}
	t := powerlog.Now().Add(-time.Since(h.Status.Receipt.StoppedSince))
	if t < p.begun || t > powerlog.Now() {
		return 0
	}
	return t
}

func look(s *resource.Server, at judge.Poll) seen {
	name := s.Metadata.Name
	v := seen{
		claim:       slices.Contains(at.Claims, rig.ClaimName(name)),
		provisioned: slices.ContainsFunc(at.Grants, func(g judge.Grant) bool { return g.Server == name && (g.Provisioned || g.Repeat) }),
	}
	for _, h := range at.Holds {
		if h.Server == name && !h.Released {
			v.holds = append(v.holds, h.ID)
		}
	}
	for _, c := range s.Status.Conditions {
		v.conditions = append(v.conditions, c.Code)
		switch c.Code {
		case resource.CondUnexpectedPower, resource.CondSafeStopped:
			v.unexpected = true
		case resource.CondGrantSpent:
			v.spent = true
		case resource.CondServerOn:
			v.runs = true
		case resource.CondGrantInvalid:
			v.invalid = true
		default:
		}
	}
	if r := s.Status.Report; r != nil {
		v.on = r.Observation.Power == protocol.PowerOn
		v.unexpected = v.unexpected || r.Unexpected != nil
	}
	return v
}

// lookAt notes what the server's claim says.
func (v *seen) lookAt(x *resource.Claim) {
	for _, c := range x.Status.Conditions {
		v.conditions = append(v.conditions, c.Code)
		v.undecided = v.undecided || c.Code == resource.CondNeedsDecision
	}
}

// read reads the requests that have not ended; the others are as they were.
func (p *poller) read(ctx context.Context, c *api.Client) (out []judge.Request, err error) {
	p.mu.Lock()
	open := make([]judge.Request, 0, len(p.requests))
	for _, r := range p.requests {
		open = append(open, r)
	}
	p.mu.Unlock()
	slices.SortFunc(open, func(a, b judge.Request) int { return strings.Compare(a.ID, b.ID) })
	for _, r := range open {
		if r.Outcome == resource.OutcomePending {
			now, err := c.Requests.Get(ctx, r.ID)
			if protocol.CodeOf(err) == protocol.CodeNotFound {
				continue // as the judge sees by what is not there
			}
			if err != nil {
				return nil, err
			}
			r = judge.Request{ID: now.ID, Server: now.Server, Ref: now.Ref, Action: now.Action, Outcome: now.Report.Outcome}
			p.mu.Lock()
			p.requests[r.ID] = r
			p.mu.Unlock()
		}
		out = append(out, r)
	}
	return out, nil
}
