package wire

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"os"

	"rackboot/protocol"
)

// The PEM blocks of key files: PKIX (RFC 5280) and PKCS #8 (RFC 5958), which openssl
// writes too.
const (
	blockPublic  = "PUBLIC KEY"
	blockPrivate = "PRIVATE KEY"
)

// MaxKeyFile bounds a key file in bytes.
const MaxKeyFile = 4 << 10

// ParsePublicKey reads an Ed25519 public key from PEM. What is in the text is never
// quoted: it may be a private key by mistake. The code is invalid.
func ParsePublicKey(text []byte) (ed25519.PublicKey, error) {
	const op = "read public key"
	block, err := keyBlock(op, text, blockPublic)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKIXPublicKey(block)
	key, ok := parsed.(ed25519.PublicKey)
	if err != nil || !ok {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "it is not an Ed25519 public key")
	}
	return key, nil
}

// ParsePrivateKey reads an Ed25519 private key from PEM. The code is invalid.
func ParsePrivateKey(text []byte) (ed25519.PrivateKey, error) {
	const op = "read private key"
	block, err := keyBlock(op, text, blockPrivate)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block)
	key, ok := parsed.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "it is not an Ed25519 private key")
	}
	return key, nil
}

// ReadPrivateKey reads an Ed25519 private key from a file that nobody else may read.
// The code is invalid or denied.
func ReadPrivateKey(path string) (ed25519.PrivateKey, error) {
	const op = "read private key"
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%w", err).WithHint("rackctl key make-destructive %s makes it", path)
	case !info.Mode().IsRegular() || info.Size() > MaxKeyFile:
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s is not a key file", path)
	case info.Mode().Perm()&0o077 != 0:
		return nil, protocol.Errorf(protocol.CodeDenied, op, "%s may be read by others (mode %04o)", path, info.Mode().Perm()).
			WithHint("chmod 600 %s; if others had access, make a new key", path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%w", err)
	}
	key, err := ParsePrivateKey(raw)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s: %w", path, err).WithHint("%s", protocol.HintOf(err))
	}
	return key, nil
}

func keyBlock(op string, text []byte, kind string) ([]byte, error) {
	if len(text) > MaxKeyFile {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "it is longer than %d bytes", MaxKeyFile)
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != kind {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "it has no PEM block %q", kind).
			WithHint("rackctl key make-destructive FILE makes FILE and FILE.pub")
	}
	return block.Bytes, nil
}

// EncodeKey is the PEM of a key and of its public half.
func EncodeKey(key ed25519.PrivateKey) (private, public []byte, err error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	pub, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: blockPrivate, Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: blockPublic, Bytes: pub}), nil
}
