package store

import (
	"errors"

	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// Term is whom this agent follows, and until when it serves the rack.
type Term struct{ disk *disk }

// Fence is the highest that was followed.
func (term *Term) Fence() (f message.Fence, err error) {
	err = term.disk.db.View(func(t state.Txn) error {
		f, _, err = get[message.Fence](t, keyFence)
		return err
	})
	return f, err
}

// Follow takes over a newer fence; another changes nothing.
func (term *Term) Follow(f message.Fence) error {
	return term.disk.update(func(t state.Txn) error {
		have, _, err := get[message.Fence](t, keyFence)
		if err != nil || !f.Newer(have) {
			return err
		}
		return put(t, keyFence, f)
	})
}

// HubHead is the hub's sealed word on its store that was kept last; nil if there is none.
func (term *Term) HubHead() (sealed []byte, err error) {
	err = term.disk.db.View(func(t state.Txn) error {
		sealed, _, err = get[[]byte](t, keyHubHead)
		return err
	})
	return sealed, err
}

// KeepHubHead keeps the hub's sealed word on its store.
func (term *Term) KeepHubHead(sealed []byte) error {
	return term.disk.update(func(t state.Txn) error { return put(t, keyHubHead, sealed) })
}

// Errors of documents by their fence.
var (
	// ErrFenced: a hub signed it that another one has taken over from.
	ErrFenced = errors.New("is of a hub that another one has taken over from")
	// ErrAhead: a hub signed it that has not proved itself to this agent yet.
	ErrAhead = errors.New("is of a hub that has not answered this agent yet")
)

// admit says why a document counts for nothing because of its hub; nil if it counts.
func admit(a decide.Arrival) error {
	switch a {
	case decide.ArrivalFenced:
		return ErrFenced
	case decide.ArrivalAhead:
		return ErrAhead
	case decide.ArrivalTaken, decide.ArrivalKnown, decide.ArrivalOther, decide.ArrivalOlder:
	}
	return nil
}

// End keeps the word that the term of this agent is over. A second one changes nothing,
// unless it says that the agent was revoked.
func (term *Term) End(m message.EndOfTerm) (news bool, err error) {
	err = term.disk.update(func(t state.Txn) error {
		was, over, err := get[message.EndOfTerm](t, keyEnded)
		news = !over || was.Agent != m.Agent || was.Code != m.Code && m.Code == resource.CondRevoked
		if err != nil || !news {
			return err
		}
		return put(t, keyEnded, m)
	})
	if err != nil {
		return false, failing("keep the end of the term", err)
	}
	return news, nil
}

// Ended reads the word that the term of the agent is over; false if it is not. A word
// of the name that the agent had before it joined anew is forgotten: the disk is the
// same, and the term is another.
func (term *Term) Ended(agent string) (m message.EndOfTerm, over bool, err error) {
	err = term.disk.update(func(t state.Txn) error {
		if m, over, err = get[message.EndOfTerm](t, keyEnded); err != nil || !over || m.Agent == agent {
			return err
		}
		m, over = message.EndOfTerm{}, false
		return t.Delete(keyEnded)
	})
	return m, over, err
}

// SetReplaced notes whether the hub says that another agent serves the rack. A
// replaced agent keeps its holds and starts nothing, also after a restart.
func (term *Term) SetReplaced(replaced bool) (changed bool, err error) {
	err = term.disk.update(func(t state.Txn) error {
		was, _, err := get[bool](t, keyReplaced)
		changed = was != replaced
		if err != nil || !changed {
			return err
		}
		return put(t, keyReplaced, replaced)
	})
	return changed, err
}
