package account

import (
	"fmt"

	"rackboot/agent/store"
	"rackboot/bmc"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Config is what the room is made of.
type Config struct {
	Store *store.Accounts
	// Local reads local BMC credentials by name.
	Local Local
	// Secrets opens what the hub seals for the agent; nil refuses it.
	Secrets Secrets
}

// Local reads BMC credentials that live at the agent.
type Local interface {
	// Read returns the credentials and a stamp that changes when they do.
	Read(name string) (c bmc.Credentials, stamp string, err error)
}

// Secrets opens the credentials that the hub seals for this agent. No error has one.
type Secrets interface {
	// Open opens what was sealed for a BMC.
	Open(bmc string, s *message.SealedCredentials) (message.BMCCredentials, error)
	// Reseal opens it and encrypts it as it is kept.
	Reseal(bmc string, s *message.SealedCredentials) (*store.Credentials, error)
	// Reveal opens what was kept.
	Reveal(c store.Credentials) (message.BMCCredentials, error)
}

// Room says by which account a BMC is spoken with. It is safe for concurrent use, and has
// no state but the store's.
type Room struct{ cfg Config }

// New makes the room.
func New(cfg Config) *Room { return &Room{cfg} }

// Credentials returns the credentials of a BMC, and a stamp that changes when they
// do: those of a file at the agent, what came with a question, or what the last document
// brought.
func (r *Room) Credentials(in message.BMCIntent) (c bmc.Credentials, stamp string, err error) {
	if file := resource.LocalOf(in.CredentialsRef); file != "" {
		return r.cfg.Local.Read(file)
	}
	if r.cfg.Secrets == nil {
		return c, "", errNoKeeper()
	}
	var have message.BMCCredentials
	name := resource.SecretOf(in.CredentialsRef)
	kept, err := r.cfg.Store.Credentials(in.Name)
	switch known := err == nil && kept.Secret == name; {
	case in.Sealed != nil:
		if known && older(in.Sealed, kept) {
			return c, "", protocol.Errorf(protocol.CodeDenied, "read credentials", "version %d of secret %q is older than %d, which the agent has", in.Sealed.Version, name, kept.Version).
				WithHint("ask again")
		}
		have, err = r.cfg.Secrets.Open(in.Name, in.Sealed)
		stamp = stampOf(in.Sealed.Secret, in.Sealed.UID, in.Sealed.Version)
	case err != nil:
	case !known:
		err = protocol.Errorf(protocol.CodeNotFound, "read kept credentials", "those of BMC %q are of secret %q, not %q", in.Name, kept.Secret, name)
	default:
		have, err = r.cfg.Secrets.Reveal(kept)
		stamp = stampOf(kept.Secret, kept.UID, kept.Version)
	}
	if err != nil {
		return c, stamp, err
	}
	return r.inForce(in.Name, have, stamp)
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

// Seal opens the credentials that a document brings for a BMC, and encrypts them as they
// are kept; nil where they are local.
func (r *Room) Seal(in message.BMCIntent) (*store.Credentials, error) {
	if resource.SecretOf(in.CredentialsRef) == "" {
		return nil, nil
	}
	if r.cfg.Secrets == nil {
		return nil, errNoKeeper()
	}
	if s := in.Sealed; s != nil && s.Secret != resource.SecretOf(in.CredentialsRef) {
		return nil, protocol.Errorf(protocol.CodeInvalid, "open sealed credentials", "they are of secret %.63q, and the BMC has %s", s.Secret, in.CredentialsRef)
	}
	return r.cfg.Secrets.Reseal(in.Name, in.Sealed)
}

func errNoKeeper() error {
	return protocol.Errorf(protocol.CodeUnsupported, "read credentials", "this agent has no key for secrets").
		WithHint("use credentialsRef local:NAME")
}
