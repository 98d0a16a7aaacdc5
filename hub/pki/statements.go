package pki

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/wire"
)

const (
	statementsFile = "statements.json"
	nextSigning    = "signing-next.pem"
)

// chain is the file of key statements: the first everyday key, and what has followed.
type chain struct {
	First      ed25519.PublicKey `json:"first"`
	Statements [][]byte          `json:"statements"`
}

// loadChain reads the statements and completes a change of the signing key that a
// crash cut off: once its statement is on disk, agents may have it. The first key is
// written down with the keys, so that another one in its place is noticed.
func (p *PKI) loadChain() error {
	data, err := p.dir.read(statementsFile)
	if err != nil {
		return err
	}
	c := chain{First: p.signer.Public()}
	if data != nil {
		if err := json.Unmarshal(data, &c); err != nil {
			return p.dir.broken(statementsFile, err)
		}
	}
	if data == nil {
		if data, err = json.Marshal(c); err != nil {
			return err
		}
		if err := p.dir.write(statementsFile, data); err != nil {
			return err
		}
	}
	p.first = c.First
	if p.keys, err = (wire.Keys{Everyday: c.First}).Follow(c.Statements); err != nil {
		return p.dir.broken(statementsFile, err)
	}
	if !p.keys.Everyday.Equal(p.signer.Public()) {
		if err := p.takeNext(); err != nil {
			return err
		}
	}
	return p.dir.remove(nextSigning) // of a change whose statement was never written
}

// takeNext makes the next signing key the present one.
func (p *PKI) takeNext() error {
	data, err := p.dir.read(nextSigning)
	if err != nil {
		return err
	}
	key, err := parseKey(data)
	ed, ok := key.(ed25519.PrivateKey)
	if err != nil || !ok || !p.keys.Everyday.Equal(ed.Public()) {
		return protocol.Errorf(protocol.CodeInvalid, "pki.Open", "%s is not the last key of %s", filepath.Join(string(p.dir), signingFile), filepath.Join(string(p.dir), statementsFile)).
			WithHint("restore both from one and the same backup, the newest: agents follow the key that the statements lead to")
	}
	if err := p.dir.write(signingFile, data); err != nil {
		return err
	}
	p.signer = wire.NewSigner(ed)
	return nil
}

// RotateSigning makes a new everyday key and a statement of it that the present one
// signs. No hub may run on the folder: it would go on with the old one. A crash leaves
// the old key or the new one, never a statement without its key.
func (p *PKI) RotateSigning() error {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	next, err := p.keys.State(p.signer, message.KeyStatement{Role: message.KeyEveryday, Key: key.Public().(ed25519.PublicKey), At: p.now()})
	if err != nil {
		return err
	}
	keyPEM, err := marshalKey(key)
	if err != nil {
		return err
	}
	text, err := json.Marshal(chain{First: p.first, Statements: next.Statements})
	if err != nil {
		return err
	}
	p.crash.At("pki.rotate.begin")
	if err := p.dir.write(nextSigning, keyPEM); err != nil {
		return err
	}
	p.crash.At("pki.rotate.key")
	if err := p.dir.write(statementsFile, text); err != nil {
		return err
	}
	p.crash.At("pki.rotate.stated")
	p.keys = next
	if err := p.takeNext(); err != nil {
		return err
	}
	p.crash.At("pki.rotate.taken")
	return p.dir.remove(nextSigning)
}

// Keys are the hub's public keys with the statements that lead to them.
func (p *PKI) Keys() wire.Keys { return p.keys }

// PastKeys are the everyday keys that were replaced. What they signed is signed again.
func (p *PKI) PastKeys() (past []ed25519.PublicKey) {
	k := wire.Keys{Everyday: p.first}
	for i := range p.keys.Statements {
		before := k.Everyday
		next, err := k.Follow(p.keys.Statements[:i+1])
		if err != nil {
			return past // cannot be: Open followed them
		}
		if k = next; !bytes.Equal(before, k.Everyday) {
			past = append(past, before)
		}
	}
	return past
}

// remove deletes a file, if it is there.
func (f folder) remove(name string) error {
	if err := os.Remove(filepath.Join(string(f), name)); err != nil && !os.IsNotExist(err) {
		return f.failed("remove", name, err)
	}
	return nil
}
