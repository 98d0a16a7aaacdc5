package store

import (
	"rackboot/protocol/decide"
	"rackboot/state"
)

// AccountChange is how far the change of a BMC's account has come. It has no account in
// it.
type AccountChange struct {
	BMC    string              `json:"bmc"`
	Change string              `json:"change"` // its id
	Phase  decide.AccountPhase `json:"phase"`
	Reason string              `json:"reason,omitempty"`
}

func accountKey(bmc string) string { return "account/" + bmc }

// AccountChange is that of a BMC and an id; nothing has come of another one.
func (s *Store) AccountChange(bmc, id string) (c AccountChange, err error) {
	err = s.db.View(func(t state.Txn) error {
		c, _, err = get[AccountChange](t, accountKey(bmc))
		return err
	})
	if err != nil || c.Change != id {
		return AccountChange{BMC: bmc, Change: id}, err
	}
	return c, nil
}

// KeepAccountChange is durable on return.
func (s *Store) KeepAccountChange(c AccountChange) error {
	if err := s.update(func(t state.Txn) error { return put(t, accountKey(c.BMC), c) }); err != nil {
		return failing("record the change of an account", err)
	}
	return nil
}
