package store

import (
	"errors"

	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// Credentials are an account of a BMC, encrypted; see package agent/secret. They are
// written in the transaction of the document that brought them.
type Credentials struct {
	BMC     string `json:"bmc"`
	Secret  string `json:"secret"`
	UID     string `json:"uid"` // of the Secret
	Version uint64 `json:"version"`
	Box     []byte `json:"box"`
}

func credentialsKey(bmc string) string { return keySecrets + bmc }

// Credentials are those kept for a BMC; not_found if there are none.
func (a *Accounts) Credentials(bmc string) (c Credentials, err error) {
	found := false
	err = a.disk.db.View(func(t state.Txn) error {
		c, found, err = get[Credentials](t, credentialsKey(bmc))
		return err
	})
	if err == nil && !found {
		err = protocol.Errorf(protocol.CodeNotFound, "read kept credentials", "there are none of BMC %q", bmc).
			WithHint("the hub sends them when the agent is connected")
	}
	return c, err
}

// dropCredentials deletes those that no server needs any more.
func dropCredentials(t state.Txn, have map[string]Intent, cut func()) error {
	kept, err := scan[Credentials](t, credentialsKey(""))
	if err != nil || len(kept) == 0 {
		return err
	}
	needed := map[string]bool{}
	for _, in := range have {
		needed[in.BMC.Name+" "+resource.SecretOf(in.BMC.CredentialsRef)] = true
	}
	for _, c := range kept {
		if needed[c.BMC+" "+c.Secret] {
			continue
		}
		if err := errors.Join(t.Delete(credentialsKey(c.BMC)), t.Delete(accountKey(c.BMC))); err != nil {
			return err
		}
		cut()
	}
	return nil
}
