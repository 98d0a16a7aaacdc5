package backupfile

import (
	"bytes"
	"strings"

	"filippo.io/age"

	"rackboot/protocol"
)

// Recipient is a public key, or a passphrase, that a backup is encrypted for.
type Recipient = age.Recipient

// Identity is a private key, or a passphrase, that opens a backup.
type Identity = age.Identity

// Recipients reads the public keys that a backup is encrypted for: lines of age1…, and comments
// that begin with #. The code is invalid.
func Recipients(text []byte) ([]Recipient, error) {
	list, err := age.ParseRecipients(bytes.NewReader(text))
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "read recipients", "%w", err).
			WithHint("give public keys of age, one a line, as age-keygen prints them: age1…")
	}
	return list, nil
}

// Identities reads the private keys that open a backup, as age-keygen writes them. The code is invalid.
func Identities(text []byte) ([]Identity, error) {
	list, err := age.ParseIdentities(bytes.NewReader(text))
	if err != nil { // whose text has nothing of the key
		return nil, protocol.Errorf(protocol.CodeInvalid, "read identity", "the file is no list of age's identities").
			WithHint("give the file that age-keygen wrote, with a line AGE-SECRET-KEY-…")
	}
	return list, nil
}

// Lock makes of a passphrase what encrypts. The code is invalid.
func Lock(passphrase string) (Recipient, error) {
	if err := checkPassphrase(passphrase); err != nil {
		return nil, err
	}
	r, err := age.NewScryptRecipient(passphrase)
	if err == nil {
		r.SetWorkFactor(workFactor)
	}
	return r, err
}

// Unlock makes of a passphrase what opens. The code is invalid.
func Unlock(passphrase string) (Identity, error) {
	if err := checkPassphrase(passphrase); err != nil {
		return nil, err
	}
	i, err := age.NewScryptIdentity(passphrase)
	if err == nil {
		i.SetMaxWorkFactor(maxWorkFactor)
	}
	return i, err
}

const (
	// workFactor is the logarithm of what a guess costs (scrypt's N): 16 MiB of memory, since the hub
	// makes backups while it works. Passphrases are long.
	workFactor = 14
	// maxWorkFactor bounds what a file may ask for: 256 MiB.
	maxWorkFactor = 18
)

// minPassphrase is the shortest passphrase in bytes.
const minPassphrase = 16

func checkPassphrase(p string) error {
	if len(p) < minPassphrase || strings.ContainsAny(p, "\r\n") {
		return protocol.Errorf(protocol.CodeInvalid, "read passphrase", "a passphrase is one line of %d bytes or more", minPassphrase).
			WithHint("openssl rand -base64 24 makes a good one; better is a key pair of age-keygen, whose private half the hub does not have")
	}
	return nil
}
