package decide

import (
	"time"

	"rackboot/protocol/resource"
)

// step is one decision being made: the draft of its plan, what it is made from, and the topics
// that write to the draft, each its own part. A topic knows those that it calls, and no other.
type step struct {
	d          draft
	holds      holdings
	disarming  disarming
	rearming   rearming
	drives     drives
	urls       urls
	guards     guards
	stops      stops
	proofs     proofs
	lifetimes  lifetimes
	identities identities
	sightings  sightings
	fallbacks  fallbacks
	attempts   attempts
	heard      heard
	requests   requests
	grants     grants
	boots      boots
	endings    endings
	conditions conditions
	pursuit    pursuit

	poll, retryAfter time.Duration
}

// newStep puts the topics together. Each is handed what it reads, and those that it calls.
func newStep(now time.Time, s *Snapshot) *step {
	p := &step{holds: holdings{s.Holds, Working(s.Firmware, s.HubTime, now)}, poll: s.Settings.PollInterval, retryAfter: s.RetryAfter}
	p.d.begin(now, s)
	p.disarming = disarming{d: &p.d}
	p.rearming = rearming{d: &p.d, in: s.Intent, newID: s.NewID, disarming: &p.disarming}
	p.drives = drives{d: &p.d, holds: &p.holds, in: s.Intent, bmcError: s.BMCError}
	p.urls = urls{d: &p.d, holds: &p.holds, bmcError: s.BMCError}
	p.guards = guards{d: &p.d, holds: &p.holds, can: s.CanGuard, bmcError: s.BMCError}
	p.stops = stops{d: &p.d, holds: &p.holds, bulk: s.Bulk, soft: s.Settings.SoftTimeout}
	p.proofs = proofs{d: &p.d, holds: &p.holds, in: s.Intent, settle: s.Settings.SettleWindow}
	p.lifetimes = lifetimes{d: &p.d, holds: &p.holds, uptime: s.Uptime, proofs: &p.proofs}
	p.identities = identities{d: &p.d, in: s.Intent, is: s.Identity}
	p.sightings = sightings{
		d: &p.d, holds: &p.holds, in: s.Intent, busy: s.Busy, retryAfter: s.RetryAfter,
		believe:   s.Settings.believeAfter(),
		disarming: &p.disarming, proofs: &p.proofs,
	}
	p.fallbacks = fallbacks{d: &p.d, in: s.Intent}
	p.attempts = attempts{
		d: &p.d, in: s.Intent, hub: s.HubTime, newID: s.NewID, newToken: s.NewToken, newMedium: s.NewMedium,
		disarming: &p.disarming, drives: &p.drives, fallbacks: &p.fallbacks, rearming: &p.rearming,
	}
	p.heard = heard{
		d: &p.d, in: s.Intent,
		attempts: &p.attempts, drives: &p.drives, fallbacks: &p.fallbacks, sightings: &p.sightings,
	}
	p.requests = requests{
		d: &p.d, holds: &p.holds, in: s.Intent, grant: s.Grant, echo: s.Echo, sent: s.Requests, local: s.Asked,
		hub: s.HubTime, incarnation: s.Incarnation,
		stops: &p.stops,
	}
	p.grants = grants{
		d: &p.d, in: s.Intent, grant: s.Grant, grantError: s.GrantError, chain: s.Chain, chainError: s.ChainError,
		mediaError: s.MediaError, artefacts: s.Artefacts, approvals: s.Approved, key: s.Bulk.Key, echo: s.Echo,
		hub: s.HubTime, incarnation: s.Incarnation,
		attempts: &p.attempts, fallbacks: &p.fallbacks, requests: &p.requests,
	}
	p.boots = boots{
		d: &p.d, in: s.Intent, echo: s.Echo, soft: s.Settings.SoftTimeout,
		attempts: &p.attempts, disarming: &p.disarming, drives: &p.drives, endings: &p.endings, grants: &p.grants,
		guards: &p.guards, rearming: &p.rearming, requests: &p.requests, stops: &p.stops, urls: &p.urls,
	}
	p.endings = endings{
		d: &p.d, in: s.Intent, soft: s.Settings.SoftTimeout, settle: s.Settings.SettleWindow,
		disarming: &p.disarming, proofs: &p.proofs, stops: &p.stops,
	}
	p.conditions = conditions{
		d: &p.d, holds: &p.holds, synced: s.Synced, in: s.Intent, grant: s.Grant, artefacts: s.Artefacts,
		echo: s.Echo, bulk: s.Bulk, bmcError: s.BMCError, noAddress: s.NoAddress, soft: s.Settings.SoftTimeout,
		sightings: &p.sightings,
	}
	p.pursuit = pursuit{
		d: &p.d, holds: &p.holds, synced: s.Synced, in: s.Intent, firmware: s.Firmware, hub: s.HubTime,
		soft:     s.Settings.SoftTimeout,
		attempts: &p.attempts, boots: &p.boots, disarming: &p.disarming, drives: &p.drives, endings: &p.endings,
		grants: &p.grants, guards: &p.guards, proofs: &p.proofs, rearming: &p.rearming, requests: &p.requests,
		stops: &p.stops, urls: &p.urls,
	}
	return p
}

// Step decides what to do with one server now. It is a pure function: the same
// arguments give the same plan, and nothing is changed in place. The caller puts
// Plan.Record on disk, then acts, then reports.
func Step(now time.Time, s Snapshot) Plan {
	p := newStep(now, &s)
	p.d.steady()
	p.proofs.forget()
	p.attempts.assumed()
	if s.Result != nil {
		p.result(*s.Result) // the read was begun after it
	}
	if s.Observation != nil {
		p.sightings.observe(*s.Observation)
	}
	if !s.Forced.IsZero() {
		p.stops.unrecorded(s.Forced)
	}
	p.identities.identify()
	if v := s.Safety; v != nil && (p.d.rec.Safety == nil || *p.d.rec.Safety != *v) {
		p.d.rec.Safety, p.d.dirty = v, true
	}
	for _, e := range s.Events {
		p.heard.evidence(e)
	}
	if s.Ended {
		p.conditions.settle()
	} else if !s.Passive {
		p.lifetimes.count()
		p.requests.take()
		p.requests.follow()
		p.pursuit.trigger()
		p.fallbacks.forget()
		p.pursuit.pursue()
		p.conditions.settle()
		p.pace()
	}

	return p.d.finish()
}

// answered notes what the BMC said to a reset.
func (p *step) answered(r Result) {
	switch r.Action {
	case ActOn, ActRestart, ActGraceful, ActForceOff:
	case ActNone, ActArm, ActDisarm, ActReadPolicy, ActGuard, ActUnguard, ActInsert, ActEject, ActClearURL:
		return
	}
	if r.Code == "" {
		p.d.happened(resource.EventAnswered, "%s: accepted", r.Action)
		return
	}
	p.d.happened(resource.EventAnswered, "%s: %s: %.300s", r.Action, r.Code, r.Message)
}

// pace leaves a BMC alone for as long as it asked, or as it is not asked anyway: until
// it answers, nothing can be decided. Never for longer than between two polls.
func (p *step) pace() {
	pause := max(p.retryAfter, unreadPause(p.d.watch.Unread.Reads))
	if pause <= 0 || p.d.plan.Action.Kind != ActNone {
		return
	}
	if at := p.d.now.Add(min(pause, p.poll)); p.d.plan.RecheckAt.Before(at) {
		p.d.plan.RecheckAt = at
	}
}

func (p *step) result(r Result) {
	if r.Code == "" {
		p.d.took(r.Action)
	}
	p.answered(r)
	switch r.Action {
	case ActArm, ActDisarm:
		p.attempts.armResult(r)
	case ActOn, ActRestart:
		p.attempts.powerResult(r)
	case ActGraceful, ActForceOff:
		p.stops.result(r)
	case ActReadPolicy, ActGuard, ActUnguard:
		p.guards.result(r)
	case ActInsert:
		p.attempts.insertResult(r)
	case ActEject:
		p.drives.ejected(r)
	case ActClearURL:
		p.urls.cleared(r)
	case ActNone:
	}
}
