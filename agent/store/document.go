package store

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/state"
)

// mark is the document in force.
type mark struct {
	Head   protocol.Head `json:"head"`
	Digest string        `json:"digest"`
}

// ErrOlder is in the chain of an error when a document is older than the one in
// force.
var ErrOlder = errors.New("is older than what is in force")

// Intent is a server's intent as it is kept.
type Intent struct {
	protocol.ServerIntent
	Shard int `json:"shard"`
	// Missing is set when a newer document left the server out. How to reach its
	// BMC is kept, because its holds are still enforced (P1).
	Missing bool `json:"missing,omitempty"`
}

// order compares an arriving document with the one in force. fresh is false for
// a repetition of the same document, which is acknowledged again.
func (s *Store) order(t state.Txn, doc string, head protocol.Head, term uint64, fence protocol.Fence, digest string) (fresh bool, err error) {
	followed, _, err := get[protocol.Fence](t, keyFence)
	if err != nil {
		return false, err
	}
	if err := admit(fence, followed); err != nil {
		return false, protocol.Errorf(protocol.CodeConflict, "apply "+doc, "fence %d of hub %s %w, %d of %s", fence.Number, fence.Hub, err, followed.Number, followed.Hub).
			WithHint("stop one of the two hubs")
	}
	seen, _, err := get[uint64](t, "meta/term")
	if err != nil {
		return false, err
	}
	if term < seen {
		return false, protocol.Errorf(protocol.CodeConflict, "apply "+doc, "term %d is below %d", term, seen).
			WithHint("another agent or hub has taken over; see the rack's term at the hub")
	}
	if term > seen {
		if err := put(t, "meta/term", term); err != nil {
			return false, err
		}
	}
	have, found, err := get[mark](t, "doc/"+doc)
	if err != nil {
		return false, err
	}
	switch {
	case !found || head.Newer(have.Head):
		return true, put(t, "doc/"+doc, mark{head, digest})
	case head == have.Head && digest == have.Digest:
		return false, nil
	case head == have.Head:
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
func (s *Store) ApplyHolds(now time.Time, d protocol.HoldDoc, digest string) (changed, released []string, err error) {
	s.crash.At("agent.holds.received")
	err = s.db.Update(func(t state.Txn) error {
		changed, released = nil, nil
		fresh, err := s.order(t, protocol.LeafHold, d.Head, d.Term, d.Fence, digest)
		if err != nil {
			return err
		}
		if !fresh {
			released, err = ended(t, d.Releases)
			return err
		}
		touched := map[string]bool{}
		if err := s.release(t, now, d.Releases, touched); err != nil {
			return err
		}
		holds, err := bury(t, d, touched)
		if err != nil {
			return err
		}
		if err := s.enforce(t, now, holds, d.Releases, touched); err != nil {
			return err
		}
		if err := deleteAll(t, "request/"); err != nil {
			return err
		}
		for _, r := range d.Requests {
			touched[r.Server] = true
			if err := put(t, "request/"+r.Server+"/"+r.ID, r); err != nil {
				return err
			}
		}
		for name := range touched {
			changed = append(changed, name)
		}
		slices.Sort(changed)
		released, err = ended(t, d.Releases)
		return err
	})
	if err != nil {
		return nil, nil, failing("apply the hold document", err)
	}
	s.crash.At("agent.holds.enforced")
	return changed, released, nil
}

// release ends the holds of releases. One by somebody else than the hold's owner needs
// an approval where a destructive key is known; without it the hold stays as it is.
func (s *Store) release(t state.Txn, now time.Time, releases []protocol.Release, touched map[string]bool) error {
	for _, r := range releases {
		key := "hold/" + r.Server + "/" + r.HoldID
		h, found, err := get[decide.Hold](t, key)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		why, err := s.allowRelease(t, now, h, r)
		if err != nil {
			return err
		}
		if why != "" {
			touched[r.Server] = true
			h.Withheld = why
			if err := put(t, key, h); err != nil {
				return err
			}
			continue
		}
		if err := t.Delete(key); err != nil {
			return err
		}
		touched[r.Server] = true
		if err := s.append(t, protocol.Event{At: now, Server: r.Server, Code: protocol.EventHoldReleased, Message: "hold " + r.HoldID + " by " + r.By}); err != nil {
			return err
		}
	}
	return nil
}

// enforce writes the document's holds. A hold that the document leaves out stays
// and is marked missing: absence never releases (P1). So does one that the document
// has with another content: a hold never changes after its creation.
func (s *Store) enforce(t state.Txn, now time.Time, holds []protocol.ActiveHold, releases []protocol.Release, touched map[string]bool) error {
	have, err := scan[decide.Hold](t, "hold/")
	if err != nil {
		return err
	}
	named := map[string]bool{}
	for _, h := range holds {
		if slices.ContainsFunc(releases, func(r protocol.Release) bool { return r.HoldID == h.ID }) {
			continue
		}
		i := slices.IndexFunc(have, func(o decide.Hold) bool { return o.ID == h.ID })
		if i >= 0 && !sameHold(have[i].ActiveHold, h) {
			continue
		}
		named[h.ID] = true
		confirms := i >= 0 && have[i].ConfirmedDown == nil && h.ConfirmedDown != nil
		if i >= 0 && !have[i].Missing && !have[i].Local && have[i].Withheld == "" && !confirms {
			continue
		}
		held := decide.Hold{ActiveHold: h, EnforcedAt: now}
		if i >= 0 {
			held = have[i]
			held.Missing, held.Local, held.Withheld = false, false, ""
			if confirms {
				held.ConfirmedDown = h.ConfirmedDown
			}
		} else if err := s.append(t, protocol.Event{At: now, Server: h.Server, Code: protocol.EventHoldEnforced, Message: fmt.Sprintf("hold %s by %s, %s", h.ID, h.Owner, h.Mode)}); err != nil {
			return err
		}
		touched[h.Server] = true
		if err := put(t, "hold/"+h.Server+"/"+h.ID, held); err != nil {
			return err
		}
	}
	for _, h := range have {
		if !named[h.ID] && !h.Missing && !h.Local {
			h.Missing = true
			touched[h.Server] = true
			if err := put(t, "hold/"+h.Server+"/"+h.ID, h); err != nil {
				return err
			}
		}
	}
	return nil
}

// sameHold compares what is enforced. A confirmation may come later.
func sameHold(a, b protocol.ActiveHold) bool {
	return a.Server == b.Server && a.Mode == b.Mode && a.SoftTimeout == b.SoftTimeout &&
		a.TTL == b.TTL && a.OnExpiry == b.OnExpiry && a.ForceDuringFirmware == b.ForceDuringFirmware
}

// ApplyRack makes a RackDoc shard durable. Entries that admit refuses are
// rejected alone; what was in force for them stays, their credentials too. Segments that
// differ from those in force are on trial from here on: see LookAtSegments. changed are
// the servers to look at.
func (s *Store) ApplyRack(d protocol.RackDoc, digest string, admit func(protocol.ServerIntent) (*Credentials, error)) (changed []string, rejected []protocol.Rejection, err error) {
	doc := fmt.Sprintf("%s/%d", protocol.LeafRack, d.Shard)
	s.crash.At("agent.rack.received")
	err = s.db.Update(func(t state.Txn) error {
		changed, rejected = nil, nil
		fresh, err := s.order(t, doc, d.Head, d.Term, d.Fence, digest)
		if err != nil || !fresh {
			return err
		}
		if d.Rack != nil {
			if err := offerSegments(t, *d.Rack); err != nil {
				return err
			}
		}
		named := map[string]bool{}
		for _, in := range d.Servers {
			named[in.Server] = true
			credentials, err := admit(in)
			if err != nil {
				rejected = append(rejected, protocol.Rejection{Server: in.Server, Reason: err.Error()})
				continue
			}
			if credentials != nil {
				if err := put(t, credentialsKey(credentials.BMC), credentials); err != nil {
					return err
				}
			}
			in.BMC.Sealed = nil // it is kept encrypted in another way
			changed = append(changed, in.Server)
			if err := put(t, "intent/"+in.Server, Intent{ServerIntent: in, Shard: d.Shard}); err != nil {
				return err
			}
		}
		missing, err := s.markMissing(t, d.Shard, d.Shards, named)
		changed = append(changed, missing...)
		if err != nil {
			return err
		}
		return dropCredentials(t)
	})
	if err != nil {
		return nil, nil, failing("apply the rack document", err)
	}
	s.crash.At("agent.rack.applied")
	return changed, rejected, nil
}

func (s *Store) markMissing(t state.Txn, shard, shards int, named map[string]bool) (missing []string, err error) {
	have, err := scan[Intent](t, "intent/")
	if err != nil {
		return nil, err
	}
	for _, in := range have {
		if (in.Shard == shard || in.Shard >= shards) && !named[in.Server] && !in.Missing {
			in.Missing = true
			missing = append(missing, in.Server)
			if err := put(t, "intent/"+in.Server, in); err != nil {
				return nil, err
			}
		}
	}
	return missing, nil
}

// Applied is what is in force.
type Applied struct {
	Heads   map[string]protocol.Head // by topic leaf
	Digests map[string]string        // of the signed bytes, by topic leaf
	Term    uint64
	Fence   protocol.Fence
	// Incarnation is the database's.
	Incarnation string
}

// Applied reads what is in force, at one moment.
func (s *Store) Applied() (a Applied, err error) {
	err = s.db.View(func(t state.Txn) error {
		a = Applied{Heads: map[string]protocol.Head{}, Digests: map[string]string{}}
		if a.Incarnation, err = incarnation(t); err != nil {
			return err
		}
		if a.Term, _, err = get[uint64](t, "meta/term"); err != nil {
			return err
		}
		if a.Fence, _, err = get[protocol.Fence](t, keyFence); err != nil {
			return err
		}
		return t.Scan("doc/", func(key string, raw []byte) error {
			m, err := decode[mark](key, raw)
			leaf := key[len("doc/"):]
			a.Heads[leaf], a.Digests[leaf] = m.Head, m.Digest
			return err
		})
	})
	return a, err
}
