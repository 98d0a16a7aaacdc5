package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// mark is the document in force.
type mark = decide.Mark

// ErrOlder is in the chain of an error when a document is older than the one in
// force.
var ErrOlder = errors.New("is older than what is in force")

// docs are the keys of the marks. A mark is written after everything that its document
// says: a document that a crash has cut short is not in force, comes again, and is applied
// over what is there of it. None of that is wrong alone: a hold that lies already, a server
// that has its new intent before others have.
const docs = keyDocuments

// Documents are the hub's, and what they say.
type Documents struct {
	disk      *disk
	events    *Events
	approvals *Approvals
	tpms      *TPMs
}

// order compares an arriving document with the one in force. fresh is false for
// a repetition of the same document, which is acknowledged again.
func (ds *Documents) order(t state.Txn, doc string, head protocol.Head, term uint64, fence message.Fence, digest string) (fresh bool, err error) {
	followed, _, err := get[message.Fence](t, keyFence)
	if err != nil {
		return false, err
	}
	have, found, err := get[mark](t, docs+doc)
	if err != nil {
		return false, err
	}
	arrival := decide.Arrives(fence, followed, mark{Head: head, Digest: digest}, have, found)
	if err := admit(arrival); err != nil {
		return false, protocol.Errorf(protocol.CodeConflict, "apply "+doc, "fence %d of hub %s %w, %d of %s", fence.Number, fence.Hub, err, followed.Number, followed.Hub).
			WithHint("stop one of the two hubs")
	}
	seen, _, err := get[uint64](t, keyTerm)
	if err != nil {
		return false, err
	}
	if term < seen {
		return false, protocol.Errorf(protocol.CodeConflict, "apply "+doc, "term %d is below %d", term, seen).
			WithHint("another agent or hub has taken over; see the rack's term at the hub")
	}
	if term > seen {
		if err := put(t, keyTerm, term); err != nil {
			return false, err
		}
	}
	switch arrival {
	case decide.ArrivalTaken:
		return true, nil
	case decide.ArrivalKnown:
		return false, nil
	case decide.ArrivalOther:
		return false, protocol.Errorf(protocol.CodeConflict, "apply "+doc, "version %d/%d arrived with another content", head.Epoch, head.Version).
			WithHint("two hubs sign for this agent; the first content stays in force")
	default:
		return false, protocol.Errorf(protocol.CodeConflict, "apply "+doc, "version %d/%d %w, %d/%d",
			head.Epoch, head.Version, ErrOlder, have.Head.Epoch, have.Head.Version)
	}
}

// ApplyHolds makes a HoldDoc durable: when it returns, its holds are Enforced.
// changed are the servers to look at; released are the holds of its releases,
// none of which lies any more.
func (ds *Documents) ApplyHolds(now time.Time, d message.HoldDoc, digest string) (changed, released []string, err error) {
	ds.disk.crash.At("agent.holds.received")
	err = ds.disk.updateInParts("agent.holds.part", func(t state.Txn, cut func()) error {
		fresh, err := ds.order(t, message.LeafHold, d.Head, d.Term, d.Fence, digest)
		if err != nil {
			return err
		}
		if !fresh {
			released, err = ended(t, d.Releases)
			return err
		}
		touched := map[string]bool{}
		_, stood, err := get[bool](t, keyStandby)
		if err != nil {
			return err
		}
		if stood || d.Standby {
			if err := copies(t, now, d, touched, cut); err != nil {
				return err
			}
		}
		if !d.Standby {
			if err := ds.obey(t, now, d, touched, cut); err != nil {
				return err
			}
		}
		if err := putRequests(t, d.Requests, touched, cut); err != nil {
			return err
		}
		changed = slices.Sorted(maps.Keys(touched))
		if released, err = ended(t, d.Releases); err != nil {
			return err
		}
		if err := setStandby(t, stood, d.Standby); err != nil {
			return err
		}
		return put(t, docs+message.LeafHold, mark{Head: d.Head, Digest: digest})
	})
	if err != nil {
		return nil, nil, failing("apply the hold document", err)
	}
	ds.disk.crash.At("agent.holds.enforced")
	return changed, released, nil
}

// obey ends and enforces holds as the document says.
func (ds *Documents) obey(t state.Txn, now time.Time, d message.HoldDoc, touched map[string]bool, cut func()) error {
	if err := ds.release(t, now, d.Releases, touched, cut); err != nil {
		return err
	}
	holds, err := bury(t, d, touched, cut)
	if err != nil {
		return err
	}
	return ds.enforce(t, now, holds, d.Releases, touched, cut)
}

// putRequests writes the requests of a document in place of those of the one before.
func putRequests(t state.Txn, requests []resource.Request, touched map[string]bool, cut func()) error {
	gone := map[string]json.RawMessage{}
	if err := t.Scan(keyRequests, func(key string, raw []byte) error {
		gone[key] = raw
		return nil
	}); err != nil {
		return err
	}
	for _, r := range requests {
		touched[r.Server] = true
		key := keyRequests + r.Server + "/" + r.ID
		raw, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("key %s: %w", key, err)
		}
		if !bytes.Equal(raw, gone[key]) {
			if err := t.Set(key, raw); err != nil {
				return err
			}
			cut()
		}
		delete(gone, key)
	}
	for _, key := range slices.Sorted(maps.Keys(gone)) {
		if err := t.Delete(key); err != nil {
			return err
		}
		cut()
	}
	return nil
}

// release ends the holds of releases. One by somebody else than the hold's owner needs
// an approval where a destructive key is known; without it the hold stays as it is.
func (ds *Documents) release(t state.Txn, now time.Time, releases []resource.Release, touched map[string]bool, cut func()) error {
	for _, r := range releases {
		key := keyHolds + r.Server + "/" + r.HoldID
		h, found, err := get[decide.Hold](t, key)
		if err != nil {
			return err
		}
		if decide.HoldAfter(found, true, false, false) != decide.HoldEnds {
			continue
		}
		why, err := ds.approvals.allowRelease(t, now, h, r)
		if err != nil {
			return err
		}
		if why != "" {
			touched[r.Server] = true
			h.Withheld = why
			if err := put(t, key, h); err != nil {
				return err
			}
			cut()
			continue
		}
		if err := t.Delete(key); err != nil {
			return err
		}
		touched[r.Server] = true
		if err := ds.events.append(t, resource.Event{At: now, Server: r.Server, Code: resource.EventHoldReleased, Message: "hold " + r.HoldID + " by " + r.By}); err != nil {
			return err
		}
		cut()
	}
	return nil
}

// enforce writes the document's holds. A hold that the document leaves out stays
// and is marked missing: absence never releases (P1). So does one that the document
// has with another content, but for a soft one that becomes hard.
func (ds *Documents) enforce(t state.Txn, now time.Time, holds []resource.ActiveHold, releases []resource.Release, touched map[string]bool, cut func()) error {
	have, err := scan[decide.Hold](t, keyHolds)
	if err != nil {
		return err
	}
	lying, named, released := map[string]decide.Hold{}, map[string]bool{}, map[string]bool{}
	for _, h := range have {
		lying[h.ID] = h
	}
	for _, r := range releases {
		released[r.HoldID] = true
	}
	for _, h := range holds {
		was, lies := lying[h.ID]
		same, harder := was.Becomes(h.HoldSpec)
		harder = lies && harder
		if decide.HoldAfter(lies, released[h.ID], true, !lies || same || harder) != decide.HoldLies {
			continue
		}
		named[h.ID] = true
		confirms := lies && was.ConfirmedDown == nil && h.ConfirmedDown != nil
		if lies && !was.Missing && !was.Local && was.Withheld == "" && !confirms && !harder {
			continue
		}
		held := decide.Hold{ActiveHold: h, EnforcedAt: now}
		if lies {
			held = was
			held.Missing, held.Local, held.Withheld = false, false, ""
			if confirms {
				held.ConfirmedDown = h.ConfirmedDown
			}
			if harder {
				held.Mode = h.Mode
			}
		}
		if !lies || harder {
			if err := ds.events.append(t, resource.Event{At: now, Server: h.Server, Code: resource.EventHoldEnforced, Message: fmt.Sprintf("hold %s by %s, %s", h.ID, h.Owner, h.Mode)}); err != nil {
				return err
			}
		}
		touched[h.Server] = true
		if err := put(t, keyHolds+h.Server+"/"+h.ID, held); err != nil {
			return err
		}
		cut()
	}
	for _, h := range have {
		// What is released and lies is withheld: it is as good as left out.
		if decide.HoldAfter(true, false, named[h.ID], true) == decide.HoldMissing && !h.Missing && !h.Local {
			h.Missing = true
			touched[h.Server] = true
			if err := put(t, keyHolds+h.Server+"/"+h.ID, h); err != nil {
				return err
			}
			cut()
		}
	}
	return nil
}

// ApplyRack makes a RackDoc shard durable. Entries that admit refuses are
// rejected alone; what was in force for them stays, their credentials too. Segments that
// differ from those in force are on trial from here on: see Trials.Look. changed are
// the servers to look at.
func (ds *Documents) ApplyRack(d message.RackDoc, digest string, admit func(message.ServerIntent) (*Credentials, error)) (changed []string, rejected []message.Rejection, err error) {
	doc := fmt.Sprintf("%s/%d", message.LeafRack, d.Shard)
	ds.disk.crash.At("agent.rack.received")
	err = ds.disk.updateInParts("agent.rack.part", func(t state.Txn, cut func()) error {
		fresh, err := ds.order(t, doc, d.Head, d.Term, d.Fence, digest)
		if err != nil || !fresh {
			return err
		}
		if d.Rack != nil {
			if err := offerSegments(t, *d.Rack, cut); err != nil {
				return err
			}
		}
		have, err := ds.knownIntents(t)
		if err != nil {
			return err
		}
		named := map[string]bool{}
		for _, in := range d.Servers {
			named[in.Server] = true
			credentials, err := admit(in)
			if err != nil {
				rejected = append(rejected, message.Rejection{Server: in.Server, Reason: err.Error()})
				continue
			}
			if credentials != nil {
				if err := put(t, credentialsKey(credentials.BMC), credentials); err != nil {
					return err
				}
			}
			if err := ds.tpms.forget(t, d.IssuedAt, in); err != nil {
				return err
			}
			in.BMC.Sealed = nil // it is kept encrypted in another way
			changed = append(changed, in.Server)
			have[keyIntents+in.Server] = Intent{ServerIntent: in, Shard: d.Shard}
			if err := put(t, keyIntents+in.Server, have[keyIntents+in.Server]); err != nil {
				return err
			}
			cut()
		}
		missing, err := markMissing(t, have, d.Shard, d.Shards, named, cut)
		changed = append(changed, missing...)
		if err != nil {
			return err
		}
		if err := dropCredentials(t, have, cut); err != nil {
			return err
		}
		return put(t, docs+doc, mark{Head: d.Head, Digest: digest})
	})
	if err != nil {
		return nil, nil, failing("apply the rack document", err)
	}
	ds.disk.crash.At("agent.rack.applied")
	return changed, rejected, nil
}

func markMissing(t state.Txn, have map[string]Intent, shard, shards int, named map[string]bool, cut func()) (missing []string, err error) {
	for _, key := range slices.Sorted(maps.Keys(have)) {
		in := have[key]
		if (in.Shard == shard || in.Shard >= shards) && !named[in.Server] && !in.Missing {
			in.Missing = true
			missing = append(missing, in.Server)
			if err := put(t, key, in); err != nil {
				return nil, err
			}
			cut()
		}
	}
	return missing, nil
}

// Applied is what is in force.
type Applied struct {
	Heads   map[string]protocol.Head // by topic leaf
	Digests map[string]string        // of the signed bytes, by topic leaf
	Term    uint64
	Fence   message.Fence
	// Incarnation is the database's.
	Incarnation string
}

// Applied reads what is in force, at one moment.
func (ds *Documents) Applied() (a Applied, err error) {
	err = ds.disk.db.View(func(t state.Txn) error {
		a = Applied{Heads: map[string]protocol.Head{}, Digests: map[string]string{}}
		if a.Incarnation, err = incarnation(t); err != nil {
			return err
		}
		if a.Term, _, err = get[uint64](t, keyTerm); err != nil {
			return err
		}
		if a.Fence, _, err = get[message.Fence](t, keyFence); err != nil {
			return err
		}
		return t.Scan(docs, func(key string, raw []byte) error {
			m, err := decode[mark](key, raw)
			leaf := key[len(docs):]
			a.Heads[leaf], a.Digests[leaf] = m.Head, m.Digest
			return err
		})
	})
	return a, err
}

// knownIntents are the intents on disk by key, for one who writes and has not written any yet.
func (ds *Documents) knownIntents(t state.Txn) (map[string]Intent, error) {
	ds.disk.mirror.mu.RLock()
	whole, have := ds.disk.mirror.whole, maps.Clone(ds.disk.mirror.intents)
	ds.disk.mirror.mu.RUnlock()
	if whole {
		return have, nil
	}
	have = map[string]Intent{}
	return have, t.Scan(keyIntents, func(key string, raw []byte) (err error) {
		have[key], err = decode[Intent](key, raw)
		return err
	})
}
