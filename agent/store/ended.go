package store

import (
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// End keeps the word that the term of this agent is over. A second one changes nothing,
// unless it says that the agent was revoked.
func (s *Store) End(m message.EndOfTerm) (news bool, err error) {
	err = s.update(func(t state.Txn) error {
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
func (s *Store) Ended(agent string) (m message.EndOfTerm, over bool, err error) {
	err = s.update(func(t state.Txn) error {
		if m, over, err = get[message.EndOfTerm](t, keyEnded); err != nil || !over || m.Agent == agent {
			return err
		}
		m, over = message.EndOfTerm{}, false
		return t.Delete(keyEnded)
	})
	return m, over, err
}
