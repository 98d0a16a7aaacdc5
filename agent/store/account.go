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

func accountKey(bmc string) string { return keyAccounts + bmc }

// Accounts are those of BMCs.
type Accounts struct{ disk *disk }

// Change is that of a BMC and an id; nothing has come of another one.
func (a *Accounts) Change(bmc, id string) (c AccountChange, err error) {
	err = a.disk.db.View(func(t state.Txn) error {
		c, _, err = get[AccountChange](t, accountKey(bmc))
		return err
	})
	if err != nil || c.Change != id {
		return AccountChange{BMC: bmc, Change: id}, err
	}
	return c, nil
}

// KeepChange is durable on return.
func (a *Accounts) KeepChange(c AccountChange) error {
	if err := a.disk.update(func(t state.Txn) error { return put(t, accountKey(c.BMC), c) }); err != nil {
		return failing("record the change of an account", err)
	}
	return nil
}
