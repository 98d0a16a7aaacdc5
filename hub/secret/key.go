package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"log/slog"

	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// keySize is the length of every key in bytes: AES-256.
const keySize = 32

// key is an AES-256-GCM key. It prints and logs as its id.
type key struct {
	id  string
	raw []byte
}

func newKey(raw []byte) key {
	mac := hmac.New(sha256.New, raw)
	mac.Write([]byte("rackboot key id")) //nolint:errcheck // a hash does not fail
	return key{hex.EncodeToString(mac.Sum(nil)[:8]), raw}
}

func randomKey() key {
	raw := make([]byte, keySize)
	rand.Read(raw) //nolint:errcheck // it does not return if there is no randomness
	return newKey(raw)
}

// Format writes the id, whatever the verb.
func (k key) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(k.id)) } // as fmt itself does

// LogValue is the id.
func (k key) LogValue() slog.Value { return slog.StringValue(k.id) }

// aead has a random nonce of 96 bits before each ciphertext. One key-encryption key
// wraps one data key for each write of a Secret: the 2^32 of NIST SP 800-38D, section
// 8.3, are out of reach.
func (k key) aead() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k.raw)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

func (k key) seal(plain, aad []byte) ([]byte, error) {
	a, err := k.aead()
	if err != nil {
		return nil, err
	}
	return a.Seal(nil, nil, plain, aad), nil
}

func (k key) open(sealed, aad []byte) ([]byte, error) {
	a, err := k.aead()
	if err != nil {
		return nil, err
	}
	return a.Open(nil, nil, sealed, aad)
}

// What the two parts of an envelope are for.
const (
	useKey    = "rackboot secret key"
	useData   = "rackboot secret data"
	useDigest = "rackboot digest key"
)

// aad is the one encoding of what something was encrypted for; see the package comment.
func aad(use string, id store.SecretID) []byte {
	var out []byte
	for _, field := range []string{use, string(resource.KindSecret), id.Name, id.UID} {
		out = binary.BigEndian.AppendUint32(out, uint32(len(field)))
		out = append(out, field...)
	}
	out = binary.BigEndian.AppendUint32(out, 8)
	return binary.BigEndian.AppendUint64(out, id.Version)
}
