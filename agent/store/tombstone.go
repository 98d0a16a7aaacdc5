package store

import (
	"slices"
	"time"

	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// tombstone is a hold that ended at the agent. It keeps a document of the hub that
// still names the hold from enforcing it again, and is reported until one does not.
type tombstone struct {
	resource.Release
	// Named says that a document of the hub has named the hold: the next that does not
	// has heard of its end. Before, a document may have been made before the hub heard
	// of the hold at all.
	Named bool `json:"named,omitempty"`
}

// adoptWithin is how long after its end the hub may still come to name a hold that it
// had only heard of: a report of the hold may have been on its way.
const adoptWithin = time.Hour

// maxUnnamed bounds the tombstones of holds that no document has named. While the hub
// is away nothing else ends them; the oldest go first.
const maxUnnamed = 256

func tombstoneKey(id string) string { return keyReleased + id }

// release ends a hold at the agent, in the caller's transaction: the hold goes,
// and a tombstone stays. One that does not lie any more is left as it is.
func (l *Local) release(t state.Txn, now time.Time, h decide.Hold, by, reason string) error {
	key := keyHolds + h.Server + "/" + h.ID
	lies, found, err := get[decide.Hold](t, key)
	if err != nil || !found {
		return err
	}
	if err := t.Delete(key); err != nil {
		return err
	}
	dead := tombstone{
		Release: resource.Release{HoldID: h.ID, Server: h.Server, By: by, At: now, Reason: reason},
		Named:   !lies.Missing && !lies.Local,
	}
	if err := put(t, tombstoneKey(h.ID), dead); err != nil {
		return err
	}
	if err := boundUnnamed(t); err != nil {
		return err
	}
	detail := "hold " + h.ID + " at the agent by " + by
	if reason != "" {
		detail += ": " + reason
	}
	return l.events.append(t, resource.Event{At: now, Server: h.Server, Code: resource.EventHoldReleased, Message: detail})
}

func boundUnnamed(t state.Txn) error {
	all, err := scan[tombstone](t, tombstoneKey(""))
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(d tombstone) bool { return d.Named })
	if len(all) <= maxUnnamed {
		return nil
	}
	slices.SortFunc(all, func(a, b tombstone) int { return a.At.Compare(b.At) })
	for _, d := range all[:len(all)-maxUnnamed] {
		if err := t.Delete(tombstoneKey(d.HoldID)); err != nil {
			return err
		}
	}
	return nil
}

// bury compares the tombstones with a newer document, and returns its holds that may
// be enforced. The first row that fits decides.
//
//	the document | named before | issued               | tombstone
//	names it     | *            | *                    | stays, named
//	releases it  | *            | *                    | goes
//	does not     | yes          | *                    | goes
//	does not     | no           | within adoptWithin   | stays
//	does not     | no           | later                | goes
func bury(t state.Txn, d message.HoldDoc, touched map[string]bool, cut func()) (holds []resource.ActiveHold, err error) {
	dead, err := scan[tombstone](t, tombstoneKey(""))
	if err != nil || len(dead) == 0 {
		return d.Holds, err
	}
	buried, named, freed := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, b := range dead {
		buried[b.HoldID] = true
	}
	for _, h := range d.Holds {
		if named[h.ID] = true; !buried[h.ID] {
			holds = append(holds, h)
		}
	}
	for _, r := range d.Releases {
		freed[r.HoldID] = true
	}
	for _, b := range dead {
		names, releases := named[b.HoldID], freed[b.HoldID]
		switch {
		case names && b.Named, !names && !releases && !b.Named && d.IssuedAt.Sub(b.At) <= adoptWithin:
			continue
		case names:
			b.Named = true
			err = put(t, tombstoneKey(b.HoldID), b)
		default:
			touched[b.Server] = true
			err = t.Delete(tombstoneKey(b.HoldID))
		}
		if err != nil {
			return nil, err
		}
		cut()
	}
	return holds, nil
}

// releasedHere are the holds of a server that ended at the agent and of which the hub
// is still to hear.
func releasedHere(t state.Txn, server string) (released []resource.Release, err error) {
	all, err := scan[tombstone](t, tombstoneKey(""))
	for _, d := range all {
		if d.Server == server {
			released = append(released, d.Release)
		}
	}
	return released, err
}
