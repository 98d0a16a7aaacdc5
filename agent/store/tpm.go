package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
)

const keyTPMs = "tpm/"

// TPM is what is known of a server's TPM. Nothing in it is secret.
type TPM struct {
	Server string `json:"server"`
	// ServerUID, Serial and UUID are whose it is: of the Server, and as its BMC showed them.
	ServerUID string `json:"serverUID"`
	Serial    string `json:"serial,omitempty"`
	UUID      string `json:"uuid,omitempty"`

	Endorsement []byte    `json:"endorsement"` // TPMT_PUBLIC
	Attestation []byte    `json:"attestation"` // TPMT_PUBLIC
	Certificate []byte    `json:"certificate,omitempty"`
	Origin      string    `json:"origin"` // who vouches for the endorsement key; see enrol.Origin
	At          time.Time `json:"at"`     // agent clock

	// Other is the first other one that a discovery offered since; nil is none.
	Other *resource.OtherTPM `json:"other,omitempty"`
}

// EndorsementDigest is how an endorsement key's public area is named.
func EndorsementDigest(area []byte) string {
	sum := sha256.Sum256(area)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Enrolment names the enrolment: the same TPM enrolled at another time has another one.
func (t TPM) Enrolment() string {
	raw, _ := json.Marshal(struct { // plain values
		Endorsement, Attestation []byte
		ServerUID, Serial, UUID  string
		At                       int64
	}{t.Endorsement, t.Attestation, t.ServerUID, t.Serial, t.UUID, t.At.UnixNano()})
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}

// Report is what is said of it to the hub; void says that it was enrolled for another board.
func (t TPM) Report(void bool) *resource.TPMReport {
	return &resource.TPMReport{
		Enrolment: t.Enrolment(), Endorsement: EndorsementDigest(t.Endorsement), Origin: resource.TPMOrigin(t.Origin),
		At: t.At, ServerUID: t.ServerUID, Void: void, Other: t.Other,
	}
}

// Of reports whether it was enrolled for the server with an identity.
func (t TPM) Of(serverUID string, is decide.Identity) bool {
	return t.ServerUID == serverUID && t.Serial == is.Serial && t.UUID == is.UUID
}

// TPMs are the TPMs that were enrolled.
type TPMs struct {
	disk   *disk
	events *Events
}

// All returns those of all servers, also of such that the rack has no more.
func (s *TPMs) All() (all []TPM, err error) {
	err = s.disk.db.View(func(t state.Txn) error {
		all, err = scan[TPM](t, keyTPMs)
		return err
	})
	if err != nil {
		return nil, failing("read the TPMs of servers", err)
	}
	return all, nil
}

// Of returns the one of a server; found is false where none is enrolled.
func (s *TPMs) Of(server string) (is TPM, found bool, err error) {
	err = s.disk.db.View(func(t state.Txn) error {
		is, found, err = get[TPM](t, keyTPMs+server)
		return err
	})
	if err != nil {
		return TPM{}, false, failing("read the TPM of "+server, err)
	}
	return is, found, nil
}

// Put keeps the TPM of a server in place of the one before, with an event. The same again stays the
// enrolment that it was, and has no other beside it.
func (s *TPMs) Put(is TPM) error {
	err := s.disk.update(func(t state.Txn) error {
		was, found, err := get[TPM](t, keyTPMs+is.Server)
		again := found && was.same(is)
		if err != nil || again && was.Other == nil {
			return err
		}
		is.Other = nil
		if again {
			is.At = was.At
			return put(t, keyTPMs+is.Server, is)
		}
		if err := put(t, keyTPMs+is.Server, is); err != nil {
			return err
		}
		return s.events.append(t, tpmEvent(is.Server, is.At, "enrolled: %s, %s", EndorsementDigest(is.Endorsement), is.Origin))
	})
	if err != nil {
		return failing("keep the TPM of "+is.Server, err)
	}
	return nil
}

// Offered notes that another TPM was offered for a server. Only the first is written, with an event:
// whoever has the boot's token may offer as often as he likes.
func (s *TPMs) Offered(server string, endorsement []byte, at time.Time) error {
	err := s.disk.update(func(t state.Txn) error {
		is, found, err := get[TPM](t, keyTPMs+server)
		if err != nil || !found || is.Other != nil {
			return err
		}
		is.Other = &resource.OtherTPM{Endorsement: EndorsementDigest(endorsement), At: at}
		if err := put(t, keyTPMs+server, is); err != nil {
			return err
		}
		return s.events.append(t, tpmEvent(server, at, "%s: %s was offered, %s is enrolled", resource.CodeOtherTPM, is.Other.Endorsement, EndorsementDigest(is.Endorsement)))
	})
	if err != nil {
		return failing("note another TPM of "+server, err)
	}
	return nil
}

// forget deletes the enrolment that an intent names. One that was made since is another one. now is of the hub, which
// has issued the intent.
func (s *TPMs) forget(t state.Txn, now time.Time, in message.ServerIntent) error {
	if in.ForgetTPM == "" {
		return nil
	}
	is, found, err := get[TPM](t, keyTPMs+in.Server)
	if err != nil || !found || is.Enrolment() != in.ForgetTPM {
		return err
	}
	if err := t.Delete(keyTPMs + in.Server); err != nil {
		return err
	}
	return s.events.append(t, tpmEvent(in.Server, now, "forgotten: %s", EndorsementDigest(is.Endorsement)))
}

func tpmEvent(server string, at time.Time, format string, args ...any) resource.Event {
	return resource.Event{At: at, Server: server, Code: resource.EventTPM, Message: fmt.Sprintf(format, args...)}
}

// same reports whether two enrolments differ in their time only.
func (t TPM) same(o TPM) bool {
	return t.ServerUID == o.ServerUID && t.Serial == o.Serial && t.UUID == o.UUID && t.Origin == o.Origin &&
		bytes.Equal(t.Endorsement, o.Endorsement) && bytes.Equal(t.Attestation, o.Attestation) && bytes.Equal(t.Certificate, o.Certificate)
}
