package decide

import (
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// running is what matters of a power state to an attempt.
type running string

const (
	isOff   running = "off"
	isOn    running = "on"
	isOther running = "other" // going somewhere, or not known
)

func runningOf(p protocol.PowerState) running {
	switch p {
	case protocol.PowerOff:
		return isOff
	case protocol.PowerOn:
		return isOn
	case protocol.PowerPoweringOn, protocol.PowerPoweringOff, protocol.PowerPaused, protocol.PowerUnknown, protocol.PowerUnreachable:
	}
	return isOther
}

// timer is how the time of an attempt's state stands.
type timer string

const (
	timerRun     timer = "run"
	timerResend  timer = "resend"
	timerExpired timer = "expired"
)

// How long an attempt may stay in a state. On is sent again every 10 s for
// 300 s, because BMCs accept and drop it shortly after an off (RackN's power-confirm-timeout exists for that).
const (
	armTimeout      = 5 * time.Minute
	armPatience     = 30 * time.Minute // with a BMC that takes no override now
	onResend        = 10 * time.Second
	onTimeout       = 300 * time.Second
	consumeTimeout  = 10 * time.Minute // POST of a large server
	fetchTimeout    = 5 * time.Minute  // firmware tries for 60 s per interface
	installTimeout  = 2 * time.Hour
	activeInterval  = time.Second
	fetchedInterval = 5 * time.Second // an installer takes minutes, and says itself when it ends
	attemptBackoff  = 5 * time.Second
	attemptMaxPause = 5 * time.Minute
)

// attemptStep moves one power-on along. The first row that fits decides; a state
// that no row names stays.
//
//	state          | net | power | armed | timer   | next           | action
//	Preparing      | *   | off   | *     | run     | Preparing      | arm
//	Preparing      | *   | off   | *     | expired | Failed         | none
//	Preparing      | *   | on    | *     | *       | Failed         | none
//	Armed          | *   | off   | ours  | *       | PowerRequested | on
//	Armed          | *   | off   | *     | *       | Failed         | none
//	Armed          | *   | on    | *     | *       | Failed         | none
//	PowerRequested | *   | off   | none  | *       | Failed         | none
//	PowerRequested | *   | off   | other | *       | Failed         | none
//	PowerRequested | *   | off   | ours  | resend  | PowerRequested | on
//	PowerRequested | *   | off   | ours  | expired | Failed         | none
//	PowerRequested | *   | on    | none  | *       | Consumed       | none
//	PowerRequested | *   | on    | other | *       | Failed         | none
//	PowerRequested | *   | on    | ours  | expired | Failed         | none
//	Consumed       | no  | *     | *     | *       | Succeeded      | none
//	Consumed       | yes | off   | *     | *       | Failed         | none
//	Consumed       | yes | on    | *     | expired | Failed         | force-off
//	Fetched        | *   | off   | *     | *       | Failed         | none
//	Fetched        | *   | on    | *     | expired | Failed         | none
//
// The override is never written or cleared between the power action and the
// evidence that firmware consumed it (metal-operator 1059). PowerRequested, Off
// and nothing armed is a boot that came and went unseen: it is reported as
// unknown and not sent again. Where another party replaced the override, nobody
// can tell which one firmware took. Whatever fails, an override that is still
// armed once the server reads Off is cleared (see disarm).
func attemptStep(state resource.AttemptState, net bool, power running, has armed, t timer) (resource.AttemptState, ActionKind, string) {
	const (
		failed   = resource.AttemptFailed
		replaced = "another party replaced the override"
	)
	switch state {
	case resource.AttemptPreparing:
		switch {
		case power == isOff && t == timerRun:
			return state, ActArm, ""
		case power == isOff && t == timerExpired:
			return failed, ActNone, "the BMC did not take the boot override in time"
		case power == isOn:
			return failed, ActNone, "the server was powered on before the override was written"
		}
	case resource.AttemptArmed:
		switch {
		case power == isOff && has == armedOurs:
			return resource.AttemptPowerRequested, ActOn, ""
		case power == isOff && has == armedOther:
			return failed, ActNone, replaced
		case power == isOff:
			return failed, ActNone, "the override vanished before the server was powered on"
		case power == isOn:
			return failed, ActNone, "something else powered the server on while the override was armed"
		}
	case resource.AttemptPowerRequested:
		switch {
		case power != isOther && has == armedOther:
			return failed, ActNone, replaced
		case power == isOff && has == armedNone:
			return failed, ActNone, "outcome unknown: the override is gone and the server is Off"
		case power == isOff && t == timerResend:
			return state, ActOn, ""
		case power == isOff && t == timerExpired:
			return failed, ActNone, "the BMC did not power the server on in time"
		case power == isOn && has == armedNone:
			return resource.AttemptConsumed, ActNone, ""
		case power == isOn && t == timerExpired:
			return failed, ActNone, "firmware did not consume the override in time"
		}
	case resource.AttemptConsumed:
		switch {
		case !net:
			return resource.AttemptSucceeded, ActNone, ""
		case power == isOff:
			return failed, ActNone, "the server went Off before it fetched its boot file"
		case power == isOn && t == timerExpired:
			return failed, ActForceOff, "firmware did not fetch the boot file in time"
		}
	case resource.AttemptFetched:
		switch {
		case power == isOff:
			return failed, ActNone, "the server went Off without an installed report"
		case power == isOn && t == timerExpired:
			return failed, ActNone, "no installed report in time"
		}
	case resource.AttemptSucceeded, resource.AttemptFailed:
	}
	return state, ActNone, ""
}

// stateTimeouts are how long an attempt may stay in a state; a power-on has its own.
var stateTimeouts = map[resource.AttemptState]time.Duration{
	resource.AttemptPreparing: armTimeout,
	resource.AttemptConsumed:  fetchTimeout,
	resource.AttemptFetched:   installTimeout,
}

func timerOf(now time.Time, a *Attempt, power running) timer {
	age := now.Sub(a.Since)
	limit := stateTimeouts[a.State]
	if a.State == resource.AttemptPowerRequested {
		limit = consumeTimeout
		if power == isOff {
			limit = onTimeout
		}
	}
	if a.Timeout > 0 && a.State == resource.AttemptFetched {
		limit = a.Timeout
	}
	switch {
	case limit > 0 && age >= limit, a.Timeout > 0 && !a.OnSent.IsZero() && now.Sub(a.OnSent) >= a.Timeout:
		return timerExpired
	case a.State == resource.AttemptPowerRequested && now.Sub(a.OnAgain) >= onResend:
		return timerResend
	default:
		return timerRun
	}
}

// advance moves the open attempt of the step's record by what was read.
func (p *step) advance() {
	a := p.rec.Attempt
	power := p.bootPower(a)
	has := p.armedOf()
	if power == isOff && !a.OnSent.IsZero() {
		power = p.offTells(a, has)
	}
	waits := p.unheard(a, power, has)
	if waits && a.State != resource.AttemptPreparing {
		p.recheck(activeInterval)
		p.raise(resource.CondAwaitingHub, "first boot")
		return
	}
	t := timerOf(p.now, a, power)
	if waits {
		t = timerRun
	}
	next, act, reason := attemptStep(a.State, a.Network(), power, has, t)
	if a.State == resource.AttemptFetched {
		p.recheck(fetchedInterval)
	} else {
		p.recheck(activeInterval)
	}
	switch {
	case next == resource.AttemptFailed:
		code := codeRule(a.State, power, has, a.Outcome == protocol.BootRefusedByState, askedOf(a))
		if a.Intended == protocol.TargetCd {
			reason, code = p.mediaFailure(reason, code)
		}
		p.fail(reason, code)
		a.Cleanup = a.Cleanup || act == ActForceOff
		return
	case next == resource.AttemptSucceeded:
		if a.Observed == "" {
			a.Observed = protocol.TargetHdd // else firmware asked the network first
		}
		p.enter(next)
		p.watch.Backoff = 0
		p.happened(resource.EventDiskBoot, "booted from disk; override consumed")
		return
	case next == resource.AttemptConsumed && a.State != next:
		p.enter(next)
		p.happened(resource.EventConsumed, "firmware consumed the override %s", a.Intended)
		if a.Restart {
			p.restartedByOrder()
		}
		if !a.Network() {
			p.advance()
		}
		p.tookCached()
		return
	case next != a.State:
		p.enter(next)
	}
	switch act {
	case ActArm:
		if waits {
			p.raise(resource.CondAwaitingHub, "first boot")
			return
		}
		if p.now.Before(p.watch.NextTry) {
			p.recheckAt(p.watch.NextTry)
			return
		}
		if p.insert() {
			return
		}
		p.mark(&a.Marks.Written, p.now, PartPrepare, a.At)
		if a.URI && (p.rec.URL == nil || p.rec.URL.Attempt != a.ID) {
			p.rec.URL, p.watch.URL, p.dirty = &BootURL{Attempt: a.ID, Token: a.Token}, URLWatch{}, true
		}
		p.act(Action{Kind: ActArm, Attempt: a.ID, Override: protocol.Override{Target: a.Intended, Enabled: protocol.OverrideOnce, Mode: "UEFI"}, URI: a.URI, Plain: a.URI && a.Reach != resource.ReachURI})
	case ActOn:
		if !a.OnSent.IsZero() && p.now.Before(p.watch.Pause) {
			p.recheckAt(p.watch.Pause) // the BMC asked for more time than we give it
			return
		}
		kind := ActOn
		if a.Restart && p.watch.Last.Power != protocol.PowerOff {
			kind = ActRestart
		}
		p.ordered(kind, "%s boot", a.Intended)
		if a.OnSent.IsZero() {
			a.OnSent = p.now
			p.happened(resource.EventPowerOn, "with override %s", a.Intended)
		}
		a.OnAgain, a.OnPending = p.now, p.now
		a.Epoch = p.rec.Epoch
		p.dirty = true
		p.act(Action{Kind: kind, Attempt: a.ID})
	case ActNone, ActDisarm, ActRestart, ActGraceful, ActForceOff, ActReadPolicy, ActGuard, ActUnguard, ActInsert, ActEject, ActClearURL:
	}
}

// unheard says whether a network boot waits for the hub, because nothing of it was
// sent, or because the On that would be sent now is one that an earlier run of the agent
// may have sent: on a disk that was rolled back it would be the same boot again, for a
// claim that may have ended since. When the hub is heard, its time begins.
func (p *step) unheard(a *Attempt, power running, has armed) bool {
	on := (a.State == resource.AttemptArmed || a.State == resource.AttemptPowerRequested) && power == isOff && has == armedOurs
	if !a.Network() || a.State != resource.AttemptPreparing && !on {
		return false
	}
	if p.snap.HubTime.IsZero() {
		return true
	}
	if slices.ContainsFunc(p.rec.Conditions, func(c resource.ConditionState) bool { return c.Code == resource.CondAwaitingHub }) && a.Since.Before(p.now) {
		p.enter(a.State)
	}
	return false
}

func (p *step) enter(s resource.AttemptState) {
	a := p.rec.Attempt
	a.State, a.Since = s, p.now
	if a.Outcome == protocol.BootCoercedContinuous && (s == resource.AttemptConsumed || s == resource.AttemptFetched) {
		a.Disarm = true // see lasting
	}
	if s == resource.AttemptSucceeded || s == resource.AttemptFailed {
		p.ended()
	}
	p.dirty = true
}

// assumed says once what Recover has assumed.
func (p *step) assumed() {
	if a := p.rec.Attempt; a != nil && a.Assumed {
		a.Assumed, p.dirty = false, true
		p.happened(resource.EventFetched, "%s", a.Reason)
	}
}

// fail ends the open attempt. A network boot whose file was fetched has spent
// its grant: the installer may have run.
func (p *step) fail(reason string, code resource.AttemptCode) {
	a := p.rec.Attempt
	fetched := a.State == resource.AttemptFetched
	a.Reason, a.Code, a.Disarm = reason, code, true
	p.enter(resource.AttemptFailed)
	p.happened(resource.EventAttemptFailed, "%s boot: %s", a.Intended, reason)
	if a.Network() && (fetched || a.Cached && !a.OnSent.IsZero()) {
		p.spend(reason) // what the BMC has, firmware may boot with nobody seeing it
	}
	p.countFailure()
	p.watch.Backoff++
	pause := min(attemptBackoff<<min(p.watch.Backoff-1, 10), attemptMaxPause)
	p.watch.NextTry = p.now.Add(pause)
}

// onResult folds the answer to On. A refusal is not the end: the next read
// tells, and On is sent again while its time lasts.
func (p *step) onResult(r Result) {
	if r.Code != "" {
		p.refused(r)
		p.watch.Pause = p.now.Add(pauseOf(0, r))
	}
	a := p.rec.Attempt
	if a == nil || a.ID != r.Attempt || a.OnPending.IsZero() {
		return
	}
	if r.Action == ActRestart && r.Code == protocol.CodeUnsupported && a.Open() {
		a.OnPending, a.OnSent = time.Time{}, time.Time{} // nothing was sent
		p.cannotRestart(r.Message)
		return
	}
	switch r.Code {
	case protocol.CodeConflict, protocol.CodeInvalid, protocol.CodeUnsupported, protocol.CodeDenied:
		if a.OnAgain.Equal(a.OnSent) { // else an earlier On may still take effect
			a.OnPending = time.Time{}
			p.dirty = true
		}
	default:
		a.OnPending = r.At
		p.dirty = true
	}
}
