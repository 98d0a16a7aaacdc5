package agent

import (
	"fmt"

	"rackboot/agent/store"
	"rackboot/bmc"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// account are the credentials of a BMC, and what changes when they do: a file at the
// agent, what came with a question, or what the last document brought.
func (a *Agent) account(in message.BMCIntent) (c bmc.Credentials, stamp string, err error) {
	if file := resource.LocalOf(in.CredentialsRef); file != "" {
		return a.cfg.Credentials.Read(file)
	}
	if a.cfg.Secrets == nil {
		return c, "", errNoKeeper()
	}
	var have message.BMCCredentials
	name := resource.SecretOf(in.CredentialsRef)
	kept, err := a.store.Credentials(in.Name)
	switch known := err == nil && kept.Secret == name; {
	case in.Sealed != nil:
		if known && older(in.Sealed, kept) {
			return c, "", protocol.Errorf(protocol.CodeDenied, "read credentials", "version %d of secret %q is older than %d, which the agent has", in.Sealed.Version, name, kept.Version).
				WithHint("ask again")
		}
		have, err = a.cfg.Secrets.Open(in.Name, in.Sealed)
		stamp = stampOf(in.Sealed.Secret, in.Sealed.UID, in.Sealed.Version)
	case err != nil:
	case !known:
		err = protocol.Errorf(protocol.CodeNotFound, "read kept credentials", "those of BMC %q are of secret %q, not %q", in.Name, kept.Secret, name)
	default:
		have, err = a.cfg.Secrets.Reveal(kept)
		stamp = stampOf(kept.Secret, kept.UID, kept.Version)
	}
	if err != nil {
		return c, stamp, err
	}
	return a.inForce(in.Name, have, stamp)
}

func stampOf(secret, uid string, version uint64) string {
	return fmt.Sprintf("%s %s %d", secret, uid, version)
}

// older says whether a question brings credentials from before those of the last
// document: a broker can play a question back while it is good, and a document cannot
// be played back at all.
func older(s *message.SealedCredentials, kept store.Credentials) bool {
	return s.UID == kept.UID && s.Version < kept.Version
}

// admit checks a server entry, and opens the credentials that it brings.
func (a *Agent) admit(in message.ServerIntent) (*store.Credentials, error) {
	if err := checkEntry(in); err != nil {
		return nil, err
	}
	if resource.SecretOf(in.BMC.CredentialsRef) == "" {
		return nil, nil
	}
	if a.cfg.Secrets == nil {
		return nil, &unreadable{errNoKeeper()}
	}
	if s := in.BMC.Sealed; s != nil && s.Secret != resource.SecretOf(in.BMC.CredentialsRef) {
		return nil, &unreadable{protocol.Errorf(protocol.CodeInvalid, "open sealed credentials", "they are of secret %.63q, and the BMC has %s", s.Secret, in.BMC.CredentialsRef)}
	}
	c, err := a.cfg.Secrets.Reseal(in.BMC.Name, in.BMC.Sealed)
	if err != nil {
		return nil, &unreadable{err}
	}
	return c, nil
}

// The results of rackboot_agent_secrets_opened_total.
const (
	openDone    = "opened"
	openRefused = "refused"
)

// unreadable is in the chain of an error when an entry is refused because of its
// credentials.
type unreadable struct{ error }

func (u *unreadable) Unwrap() error { return u.error }

func errNoKeeper() error {
	return protocol.Errorf(protocol.CodeUnsupported, "read credentials", "this agent has no key for secrets").
		WithHint("use credentialsRef local:NAME")
}
