package decide

import (
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
			return failed, ActNone, "the server went Off before its image reported"
		case power == isOn && t == timerExpired:
			return failed, ActNone, "its image did not report in time"
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

// until is when the time of the attempt's state is over; zero if it has none. An image that has a
// time of its own has it from the power-on on.
func (a *Attempt) until(power running) (t time.Time) {
	limit := stateTimeouts[a.Stage.State]
	if a.Stage.State == resource.AttemptPowerRequested {
		limit = consumeTimeout
		if power == isOff {
			limit = onTimeout
		}
	}
	if a.Order.Timeout > 0 && a.Stage.State == resource.AttemptFetched {
		limit = a.Order.Timeout
	}
	if limit > 0 {
		t = a.Stage.Since.Add(limit)
	}
	if a.Order.Timeout > 0 && !a.Stage.PowerOn.Sent.IsZero() {
		if end := a.Stage.PowerOn.Sent.Add(a.Order.Timeout); t.IsZero() || end.Before(t) {
			t = end
		}
	}
	return t
}

func timerOf(now time.Time, a *Attempt, power running) timer {
	until := a.until(power)
	switch {
	case !until.IsZero() && !now.Before(until):
		return timerExpired
	case a.Stage.State == resource.AttemptPowerRequested && now.Sub(a.Stage.PowerOn.Again) >= onResend:
		return timerResend
	default:
		return timerRun
	}
}
