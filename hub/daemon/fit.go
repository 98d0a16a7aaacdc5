package daemon

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"

	"rackboot/hub/approval"
	"rackboot/hub/pki"
	"rackboot/protocol"
)

// caCopy is the authority's certificate for people, beside the folder of keys.
const caCopy = "ca.pem"

// fits refuses keys that do not belong together with what this hub has told agents and people
// before: files that were put back one by one, or from different copies. Agents that follow the
// others would refuse all that the hub says. It is asked before anything of it is written anew.
func (c *Config) fits(keys *pki.PKI) error {
	for _, check := range []func(*pki.PKI) error{c.signingFits, c.authorityFits, c.destructiveFits} {
		if err := check(keys); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) misfit(hint, format string, args ...any) error {
	return protocol.Errorf(protocol.CodeInvalid, "open the hub's keys", format, args...).WithHint("%s", hint)
}

// signingFits holds pki/signing.pem to the first key of hub.pub, the present one of the last start:
// it must be the present one still, or one before.
func (c *Config) signingFits(keys *pki.PKI) error {
	told, err := firstBlock(c.path(hubKeyFile))
	if told == nil || err != nil {
		return err
	}
	public, err := x509.ParsePKIXPublicKey(told)
	key, ok := public.(ed25519.PublicKey)
	if err != nil || !ok {
		return c.misfit("restore it from the backup that pki/ is of, or remove it: it is written again", "%s is damaged", c.path(hubKeyFile))
	}
	for _, own := range append([]ed25519.PublicKey{keys.Signer().Public()}, keys.PastKeys()...) {
		if own.Equal(key) {
			return nil
		}
	}
	return c.misfit("restore pki/ and hub.pub from one and the same backup, the newest; if pki/ is what agents follow, move hub.pub away and start again",
		"%s is not the key of %s, nor does %s lead to it from that key", c.path("pki/signing.pem"), c.path(hubKeyFile), c.path("pki/statements.json"))
}

// authorityFits holds pki/ca.pem to the first certificate of ca.pem: it must be one that agents of
// this hub were told to trust.
func (c *Config) authorityFits(keys *pki.PKI) error {
	told, err := firstBlock(c.path(caCopy))
	if told == nil || err != nil {
		return err
	}
	if keys.Trusts(told) {
		return nil
	}
	return c.misfit("restore pki/ and ca.pem from one and the same backup, the newest; if pki/ is what agents trust, move ca.pem away and start again",
		"%s is another authority than the one of %s, and has not replaced it", c.path("pki/ca.pem"), c.path(caCopy))
}

// destructiveFits holds a private destructive key to the public half that lies beside it.
func (c *Config) destructiveFits(*pki.PKI) error {
	file := c.DestructiveKey.File
	if file == "" {
		return nil
	}
	if _, err := os.Stat(file + ".pub"); errors.Is(err, fs.ErrNotExist) {
		return nil // it is where approvals are looked at
	}
	own, err := approval.ReadPrivate(file)
	if err != nil {
		return err
	}
	public, err := approval.ReadPublic(file+".pub", nil)
	if err != nil {
		return err
	}
	if bytes.Equal(own.Public(), public.Public()) {
		return nil
	}
	return c.misfit("give both halves that rackctl key make-destructive wrote together: agents know the public one", "%s is not the private half of %s", file, file+".pub")
}

// firstBlock is the content of a file's first PEM block; nil where there is none.
func firstBlock(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, "open the hub's keys", "%w", err).WithHint("the hub must be able to read its folder")
	}
	if block, _ := pem.Decode(data); block != nil {
		return block.Bytes, nil
	}
	return nil, nil // half of one, of a crash: it is written again
}
