package store

import (
	"bytes"
	"time"

	"rackboot/protocol/decide"
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
}

// Of reports whether it was enrolled for the server with an identity.
func (t TPM) Of(serverUID string, is decide.Identity) bool {
	return t.ServerUID == serverUID && t.Serial == is.Serial && t.UUID == is.UUID
}

// TPMs are the TPMs that were enrolled.
type TPMs struct{ disk *disk }

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

// Put keeps the TPM of a server in place of the one before. The same again is not written.
func (s *TPMs) Put(is TPM) error {
	err := s.disk.update(func(t state.Txn) error {
		was, found, err := get[TPM](t, keyTPMs+is.Server)
		if err != nil || found && was.same(is) {
			return err
		}
		return put(t, keyTPMs+is.Server, is)
	})
	if err != nil {
		return failing("keep the TPM of "+is.Server, err)
	}
	return nil
}

// same reports whether two enrolments differ in their time only.
func (t TPM) same(o TPM) bool {
	return t.ServerUID == o.ServerUID && t.Serial == o.Serial && t.UUID == o.UUID && t.Origin == o.Origin &&
		bytes.Equal(t.Endorsement, o.Endorsement) && bytes.Equal(t.Attestation, o.Attestation) && bytes.Equal(t.Certificate, o.Certificate)
}
