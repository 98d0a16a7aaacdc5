package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// maxLocal bounds the holds that were placed at the agent and that no document names,
// in bytes of JSON: each report says them whole, and a message has 128 KiB.
const maxLocal = 48 << 10

// Local is what people ask for at the agent: holds, their ends, and resumes.
type Local struct {
	disk   *disk
	events *Events
}

// Hold places a hold at the agent: when it returns, the hold is Enforced. The same
// again, by owner, key and server, is the hold that there is, whoever stored it; one that was placed here and
// is soft becomes hard, until the hub has taken it over. fresh says that it is a new one. The codes are not_found for a server that the agent has
// not heard of, conflict for the same key with another content, for an agent that was
// replaced and for too many holds, and unavailable.
func (l *Local) Hold(now time.Time, h resource.ActiveHold) (held decide.Hold, fresh bool, err error) {
	l.disk.crash.At("agent.local.asked")
	err = l.disk.update(func(t state.Txn) error {
		held, fresh = decide.Hold{}, false
		there, err := placeable(t, h)
		if err != nil {
			return err
		}
		switch {
		case there == nil:
			held, fresh = decide.Hold{ActiveHold: h, EnforcedAt: now, Local: true}, true
		case there.Mode == h.Mode:
			held = *there
			return errNothing
		default:
			held = *there
			held.Mode = h.Mode
			h.ID = held.ID
		}
		if err := put(t, keyHolds+h.Server+"/"+h.ID, held); err != nil {
			return err
		}
		return l.events.append(t, resource.Event{
			At: now, Server: h.Server, Code: resource.EventHoldEnforced,
			Message: fmt.Sprintf("hold %s by %s, %s, placed at the agent", h.ID, h.Owner, h.Mode),
		})
	})
	if errors.Is(err, errNothing) {
		return held, false, nil
	}
	if err != nil {
		return decide.Hold{}, false, failing("hold "+h.Server, err)
	}
	l.disk.crash.At("agent.local.enforced")
	return held, fresh, nil
}

// placeable says whether the hold may be placed; there is the one that it repeats.
func placeable(t state.Txn, h resource.ActiveHold) (there *decide.Hold, err error) {
	op := "hold " + h.Server
	replaced, _, err := get[bool](t, keyReplaced)
	if err != nil {
		return nil, err
	}
	_, known, err := get[Intent](t, keyIntents+h.Server)
	if err != nil {
		return nil, err
	}
	have, err := scan[decide.Hold](t, keyHolds)
	if err != nil {
		return nil, err
	}
	size := 0
	for _, o := range append(have, decide.Hold{ActiveHold: h, Local: true}) {
		known = known || o.Server == h.Server && o.ID != h.ID
		if o.Local {
			raw, err := json.Marshal(o.ActiveHold)
			if err != nil {
				return nil, err
			}
			size += len(raw)
		}
	}
	i := slices.IndexFunc(have, func(o decide.Hold) bool { return o.Server == h.Server && o.Owner == h.Owner && o.Key == h.Key })
	switch {
	case i >= 0 && !repeats(have[i], h):
		return nil, protocol.Errorf(protocol.CodeConflict, op, "%s already holds it with key %q as hold %s, which differs", h.Owner, h.Key, have[i].ID).
			WithHint("it lies on as it is, and the server stays off; place a second one with another key if it is to lie otherwise")
	case i >= 0:
		return &have[i], nil
	case !known:
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "this agent has not heard of server %q", h.Server).
			WithHint("rackboot-agent servers lists those that it knows")
	case replaced:
		return nil, protocol.Errorf(protocol.CodeConflict, op, "another agent serves the rack").
			WithHint("place the hold at that one, or at the hub")
	case size > maxLocal:
		return nil, protocol.Errorf(protocol.CodeConflict, op, "holds that the hub has not heard of would take %d bytes of %d", size, maxLocal).
			WithHint("release some that were placed here, or give shorter reasons")
	}
	return nil, nil
}

// repeats compares what a caller asks for with what lies. What was placed here may become hard.
func repeats(there decide.Hold, asked resource.ActiveHold) bool {
	was := there.ActiveHold
	was.ID, was.ConfirmedDown = asked.ID, asked.ConfirmedDown
	if _, harder := was.Becomes(asked.HoldSpec); there.Local && harder {
		was.Mode = asked.Mode
	}
	return was == asked
}

// Release releases a hold at the agent, durably. Again changes nothing, as long as
// the hub has not heard of it. The codes are not_found for a hold that does not lie,
// denied where only a reason would release it, and unavailable.
func (l *Local) Release(now time.Time, id, by, reason string) (r resource.Release, err error) {
	op := "release hold " + id
	l.disk.crash.At("agent.local.release")
	err = l.disk.update(func(t state.Txn) error {
		r = resource.Release{}
		h, err := findHold(t, id)
		if err != nil {
			return err
		}
		dead, released, err := get[tombstone](t, tombstoneKey(id))
		switch {
		case err != nil:
			return err
		case h == nil && released:
			r = dead.Release
			return errNothing
		case h == nil:
			return noHold(op, id)
		case releaseRule(h.Owner == by, reason != "") == releaseDenied:
			return protocol.Errorf(protocol.CodeDenied, op, "it is %s's hold %q on %s, and you are %s", h.Owner, h.Key, h.Server, by).
				WithHint("its owner releases it; to break the glass, give the reason: rackboot-agent release %s --break-glass REASON", id)
		}
		if err := l.release(t, now, *h, by, reason); err != nil {
			return err
		}
		dead, _, err = get[tombstone](t, tombstoneKey(id))
		r = dead.Release
		return err
	})
	if errors.Is(err, errNothing) {
		return r, nil
	}
	if err != nil {
		return resource.Release{}, failing(op, err)
	}
	l.disk.crash.At("agent.local.released")
	return r, nil
}

// releaseVerdict is what becomes of a release at the agent.
type releaseVerdict string

const (
	releaseOwn    releaseVerdict = "own"         // the owner's
	releaseBroken releaseVerdict = "break-glass" // somebody else's, with a reason
	releaseDenied releaseVerdict = "denied"
)

// releaseRule is the table of releases at the agent. The first row that fits decides.
//
//	owner | reason | verdict
//	yes   | *      | own
//	no    | yes    | break-glass
//	no    | no     | denied
//
// Holds of the hub have owners of the hub, so that each of them is somebody else's.
func releaseRule(owner, reason bool) releaseVerdict {
	switch {
	case owner:
		return releaseOwn
	case reason:
		return releaseBroken
	default:
		return releaseDenied
	}
}

// Confirm notes that somebody at the agent says of a held server that it is down.
// The first confirmation stays. The codes are not_found and unavailable.
func (l *Local) Confirm(now time.Time, id, by, reason string) (held decide.Hold, err error) {
	op := "confirm hold " + id
	l.disk.crash.At("agent.local.confirm")
	err = l.disk.update(func(t state.Txn) error {
		held = decide.Hold{}
		h, err := findHold(t, id)
		switch {
		case err != nil:
			return err
		case h == nil:
			return noHold(op, id)
		}
		held = *h
		if h.ConfirmedDown != nil {
			return errNothing
		}
		held.ConfirmedDown = &resource.Confirmation{By: by, Reason: reason, At: now}
		if err := put(t, keyHolds+h.Server+"/"+id, held); err != nil {
			return err
		}
		return l.events.append(t, resource.Event{
			At: now, Server: h.Server, Code: resource.EventHoldConfirmed, Message: fmt.Sprintf("hold %s: %s says at the agent that the server is down: %s", id, by, reason),
		})
	})
	if errors.Is(err, errNothing) {
		return held, nil
	}
	if err != nil {
		return decide.Hold{}, failing(op, err)
	}
	l.disk.crash.At("agent.local.confirmed")
	return held, nil
}

// findHold is the hold that lies under an id, nil if none does.
func findHold(t state.Txn, id string) (*decide.Hold, error) {
	have, err := scan[decide.Hold](t, keyHolds)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(have, func(h decide.Hold) bool { return h.ID == id })
	if i < 0 {
		return nil, nil
	}
	return &have[i], nil
}

func noHold(op, id string) error {
	return protocol.Errorf(protocol.CodeNotFound, op, "no hold %q lies at this agent", id).
		WithHint("rackboot-agent holds lists them; one that was released here is not known any more once the hub has heard of it")
}

// Holds are the holds that lie, and the ends of those that were released here and of
// which the hub is still to hear.
func (l *Local) Holds() (lie []decide.Hold, released []resource.Release, err error) {
	err = l.disk.db.View(func(t state.Txn) error {
		if lie, err = scan[decide.Hold](t, keyHolds); err != nil {
			return err
		}
		dead, err := scan[tombstone](t, tombstoneKey(""))
		released = nil
		for _, d := range dead {
			released = append(released, d.Release)
		}
		return err
	})
	return lie, released, err
}
