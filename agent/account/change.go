package account

import (
	"rackboot/bmc"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// inForce are the credentials to use, of those that were sealed, and their stamp.
func (r *Room) inForce(name string, have message.BMCCredentials, stamp string) (bmc.Credentials, string, error) {
	if have.Next != nil {
		c, err := r.cfg.Store.Change(name, have.Change)
		if err != nil {
			return bmc.Credentials{}, stamp, err
		}
		if c.Phase == decide.AccountProved || c.Phase == decide.AccountRotated {
			return bmc.Credentials(*have.Next), stamp + " next", nil
		}
	}
	return r.former(have, stamp)
}

// Former returns the account that is in use before a change.
func (r *Room) Former(have message.BMCCredentials) (bmc.Credentials, error) {
	c, _, err := r.former(have, "")
	return c, err
}

// former is that, with its stamp.
func (r *Room) former(have message.BMCCredentials, stamp string) (bmc.Credentials, string, error) {
	if have.Local == "" {
		return bmc.Credentials(have.BMCAccount), stamp, nil
	}
	c, local, err := r.cfg.Local.Read(have.Local)
	return c, stamp + " " + local, err
}

// Report returns how far the credentials of a BMC have come; nil where they are local.
func (r *Room) Report(in message.BMCIntent) *resource.AccountReport {
	if resource.SecretOf(in.CredentialsRef) == "" || r.cfg.Secrets == nil {
		return nil
	}
	kept, err := r.cfg.Store.Credentials(in.Name)
	if err != nil {
		return nil
	}
	out := &resource.AccountReport{Secret: kept.Secret, UID: kept.UID, Version: kept.Version, State: resource.AccountInUse}
	have, err := r.cfg.Secrets.Reveal(kept)
	if err != nil || have.Next == nil {
		return out
	}
	c, err := r.cfg.Store.Change(in.Name, have.Change)
	if err != nil {
		return out
	}
	out.Change, out.Reason = have.Change, c.Reason
	switch c.Phase {
	case decide.AccountRotated:
		out.State = resource.AccountRotated
	case decide.AccountKept:
		out.State = resource.AccountKept
	case decide.AccountLost:
		out.State = resource.AccountLost
	case decide.AccountNew, decide.AccountWriting, decide.AccountProved:
		out.State = resource.AccountChanging
	}
	return out
}
