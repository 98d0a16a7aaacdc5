package store

import (
	"time"

	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// standBy notes that the agent has joined as one that stands by, with the term own. What is on its disk of an
// earlier term is not acted on; the documents of its own say what it is from then on. On a frozen store it writes nothing,
// and joins says that it is so in this run.
func standBy(t state.Txn, own uint64, frozen bool) (joins bool, err error) {
	seen, _, err := get[uint64](t, keyTerm)
	if err != nil || seen >= own || frozen {
		return err == nil && seen < own, err
	}
	rack, there, err := get[message.RackIntent](t, keyRack)
	if err != nil {
		return false, err
	}
	if rack.Standby = true; there { // until one of its own comes, whatever the hold document says first
		if err := put(t, keyRack, rack); err != nil {
			return false, err
		}
	}
	return false, put(t, keyStandby, true)
}

// StandsBy says whether the agent stands by.
func (s *Servers) StandsBy() bool {
	m := &s.disk.mirror
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.stance().standby
}

// Twin is the other agent of the rack, nil where there is none, and whether this one belongs to the rack.
func (s *Servers) Twin() (twin *message.TwinIntent, belongs bool) {
	m := &s.disk.mirror
	m.mu.RLock()
	defer m.mu.RUnlock()
	as := m.stance()
	return m.rack.Twin, as.serves || as.standby && m.synced && !m.replaced && !as.over
}

// setStandby takes over what a hold document says of it.
func setStandby(t state.Txn, was, is bool) error {
	switch {
	case was == is:
		return nil
	case is:
		return put(t, keyStandby, true)
	}
	return t.Delete(keyStandby)
}

// copies brings the holds of an agent that stands by to what a document says, or lets those go that it had copied
// and that the first document does not name by which it serves the rack. They were copies of what the hub had; who serves
// the rack has ended those that are gone. What is of another epoch stays: a hub that was restored may lack it.
// So do holds that were placed at this agent, or that no hub named when it served the rack.
func copies(t state.Txn, now time.Time, d message.HoldDoc, touched map[string]bool, cut func()) error {
	have, err := scan[decide.Hold](t, keyHolds)
	if err != nil {
		return err
	}
	before, known, err := get[mark](t, docs+message.LeafHold)
	if err != nil {
		return err
	}
	named := map[string]bool{}
	for _, r := range d.Releases {
		named[r.HoldID] = true // which is ended as any
	}
	for _, h := range d.Holds {
		named[h.ID] = true
	}
	lying := map[string]decide.Hold{}
	for _, h := range have {
		lying[h.ID] = h
		if named[h.ID] || h.Local || h.Missing || !known || before.Head.Epoch != d.Head.Epoch {
			continue
		}
		touched[h.Server] = true
		if err := t.Delete(keyHolds + h.Server + "/" + h.ID); err != nil {
			return err
		}
		cut()
	}
	if !d.Standby {
		return nil
	}
	for _, h := range d.Holds {
		was, lies := lying[h.ID]
		same, harder := was.Becomes(h.HoldSpec)
		if lies && !harder && (!same || sameConfirmation(was.ActiveHold, h)) {
			continue
		}
		held := decide.Hold{ActiveHold: h, EnforcedAt: now}
		if lies {
			held = was
			held.ConfirmedDown = h.ConfirmedDown
			if harder {
				held.Mode = h.Mode
			}
		}
		touched[h.Server] = true
		if err := put(t, keyHolds+h.Server+"/"+h.ID, held); err != nil {
			return err
		}
		cut()
	}
	return nil
}

func sameConfirmation(a, b resource.ActiveHold) bool {
	return a.ConfirmedDown != nil || b.ConfirmedDown == nil
}
