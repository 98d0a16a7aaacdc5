package publickey

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"strings"

	"rackboot/protocol"
)

// Key is a key that messages are verified with, and where it came from.
type Key struct {
	File string
	Key  ed25519.PublicKey
}

// Parse reads Ed25519 public keys: PEM blocks, or 32 bytes in hex or base64.
// What is in the file is never quoted: it may be a private key by mistake.
func Parse(file, text string) ([]Key, error) {
	const op = "read key"
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "-----BEGIN ") {
		raw, ok := Decode(text)
		if !ok || len(raw) != ed25519.PublicKeySize {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s is not a public key", file).
				WithHint("give PEM, or the 32 bytes in hex or base64, such as spec.key of rackctl get agent NAME -o json")
		}
		return []Key{{file, raw}}, nil
	}
	var keys []Key
	for rest := []byte(text); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		key, err := keyOf(block)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s: %w", file, err).
				WithHint("give the public half: openssl pkey -in FILE -pubout")
		}
		keys = append(keys, Key{file, key})
	}
	if len(keys) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s has no complete PEM block", file)
	}
	return keys, nil
}

func keyOf(block *pem.Block) (ed25519.PublicKey, error) {
	if block.Type != "PUBLIC KEY" {
		return nil, fmt.Errorf("the PEM block is a %s, not a PUBLIC KEY", block.Type)
	}
	any, err := x509.ParsePKIXPublicKey(block.Bytes)
	key, ok := any.(ed25519.PublicKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("the PEM block is not an Ed25519 public key")
	}
	return key, nil
}

// Decode reads hexadecimal or base64 (both alphabets, padded or not), with
// white space anywhere. What could be both is hexadecimal.
func Decode(text string) ([]byte, bool) {
	text = strings.Join(strings.Fields(text), "")
	if raw, err := hex.DecodeString(text); err == nil {
		return raw, text != ""
	}
	text = strings.TrimRight(text, "=")
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if raw, err := enc.DecodeString(text); err == nil {
			return raw, true
		}
	}
	return nil, false
}
