package message

import (
	"bytes"
	"encoding/json"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// SealedCredentials are the account of a BMC that one agent can open; see package
// seal. They are made once for each version of the Secret and key of the agent, so that
// a document that carries them stays the same.
type SealedCredentials struct {
	Secret  string `json:"secret"`
	UID     string `json:"uid"`     // of the Secret: one of the same name that comes later is another
	Version uint64 `json:"version"` // of its data
	// Enc is the encapsulated key and Ciphertext the account (RFC 9180).
	Enc        []byte `json:"enc"`
	Ciphertext []byte `json:"ciphertext"`
}

// MaxSealed bounds Ciphertext in bytes.
const MaxSealed = 1024

// Is says whether both are the same version of the same Secret.
func (c *SealedCredentials) Is(o *SealedCredentials) bool {
	if c == nil || o == nil {
		return c == o
	}
	return c.Secret == o.Secret && c.UID == o.UID && c.Version == o.Version
}

// BMCCredentials are what is sealed: the account in use, and the one that takes its
// place where it is being changed. They print, log and encode as nothing but by Encode.
type BMCCredentials struct {
	resource.BMCAccount
	Next *resource.BMCAccount
	// Local is the file at the agent that the account in use is in, where it is not here.
	Local string
	// Drop is what becomes of the user in use once Next was proved.
	Drop resource.DropOld
	// Change is the id of the change: of two, neither is taken for the other, also where
	// a hub that was restored from a copy gives out a version for the second time.
	Change string
}

type openAccount struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

type openCredentials struct {
	openAccount
	Next   *openAccount     `json:"next,omitempty"`
	Local  string           `json:"local,omitempty"`
	Drop   resource.DropOld `json:"drop,omitempty"`
	Change string           `json:"change,omitempty"`
}

// credentialsPad is what the encoded form is a multiple of, in bytes: the length of a
// ciphertext tells little of the password's.
const credentialsPad = 64

// Encode is the form that is sealed: JSON, padded with spaces.
func (c BMCCredentials) Encode() ([]byte, error) {
	open := openCredentials{openAccount: openAccount(c.BMCAccount), Local: c.Local, Drop: c.Drop, Change: c.Change}
	if c.Next != nil {
		open.Next = (*openAccount)(c.Next)
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false) // which would make six bytes of one
	if err := e.Encode(open); err != nil {
		return nil, err
	}
	raw := bytes.TrimRight(out.Bytes(), "\n")
	return append(raw, bytes.Repeat([]byte(" "), (credentialsPad-len(raw)%credentialsPad)%credentialsPad)...), nil
}

// DecodeBMCCredentials reads what Encode made. The error does not quote it.
func DecodeBMCCredentials(raw []byte) (BMCCredentials, error) {
	var open openCredentials
	if err := json.Unmarshal(raw, &open); err != nil || open.Username == "" && open.Local == "" {
		return BMCCredentials{}, protocol.Errorf(protocol.CodeInvalid, "read credentials", "they are not a user name and a password")
	}
	c := BMCCredentials{BMCAccount: resource.BMCAccount(open.openAccount), Local: open.Local, Drop: open.Drop, Change: open.Change}
	if open.Next != nil {
		c.Next = (*resource.BMCAccount)(open.Next)
	}
	return c, nil
}
