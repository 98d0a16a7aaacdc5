package openpgp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"
	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"rackboot/hub/iso"
	"rackboot/protocol"
)

const (
	// maxKeys bounds the keys of a keyring, and maxPackets the packets of a signature.
	maxKeys    = 1024
	maxPackets = 16
	// maxSigner bounds the name of a signer in bytes.
	maxSigner = 200
)

// Verifier implements iso.Verifier.
type Verifier struct{}

// keys implements iso.Keys.
type keys struct{ list openpgp.EntityList }

// Keys reads public keys: binary, or one or several armored blocks. The code of an error
// is invalid.
func (Verifier) Keys(raw []byte) (iso.Keys, error) {
	const op = "read keyring"
	bad := func(format string, args ...any) error {
		return protocol.Errorf(protocol.CodeInvalid, op, format, args...).WithHint("gpg --export --armor KEY makes one")
	}
	var out openpgp.EntityList
	// Only text is trimmed: a binary key may end in any byte.
	rest := raw
	if text := bytes.TrimSpace(raw); bytes.HasPrefix(text, []byte("-----BEGIN")) || len(text) == 0 {
		rest = text
	}
	for len(rest) > 0 && len(out) <= maxKeys {
		block := rest
		rest = nil
		if bytes.HasPrefix(block, []byte("-----BEGIN")) {
			if i := bytes.Index(block[1:], []byte("\n-----BEGIN")); i >= 0 {
				block, rest = block[:i+1], block[i+2:]
			}
		}
		plain, err := binary(block, openpgp.PublicKeyType)
		if err != nil {
			return nil, bad("the keyring cannot be read: %w", err)
		}
		list, err := survived(func() (openpgp.EntityList, error) { return openpgp.ReadKeyRing(bytes.NewReader(plain)) })
		if err != nil {
			return nil, bad("the keyring cannot be read: %w", err)
		}
		out = append(out, list...)
	}
	for _, e := range out {
		if e.PrivateKey != nil {
			return nil, bad("the keyring has a private key")
		}
	}
	if len(out) == 0 || len(out) > maxKeys {
		return nil, bad("the keyring has %d keys, not 1 to %d", len(out), maxKeys)
	}
	return keys{out}, nil
}

// Known implements iso.Keys.
func (k keys) Known(signature []byte) error {
	const op = "check signature"
	raw, err := binary(signature, openpgp.SignatureType)
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalid, op, "the signature cannot be read: %w", err).WithHint("give a detached signature, as gpg --detach-sign makes")
	}
	packets := packet.NewReader(bytes.NewReader(raw))
	var issuers []string
	for n := 0; ; n++ {
		p, err := survived(packets.Next)
		if errors.Is(err, io.EOF) {
			break
		}
		sig, ok := p.(*packet.Signature)
		if err != nil || !ok || n == maxPackets {
			return protocol.Errorf(protocol.CodeInvalid, op, "it is no detached signature of OpenPGP").
				WithHint("give what gpg --detach-sign makes, not a signed message or a list of checksums")
		}
		if sig.IssuerKeyId == nil {
			continue
		}
		if len(k.list.KeysById(*sig.IssuerKeyId)) > 0 {
			return nil
		}
		issuers = append(issuers, fmt.Sprintf("%016X", *sig.IssuerKeyId))
	}
	if len(issuers) == 0 {
		return protocol.Errorf(protocol.CodeInvalid, op, "the signature does not say whose it is").WithHint("give a detached signature, as gpg --detach-sign makes")
	}
	return protocol.Errorf(protocol.CodeDenied, op, "the signature is of key %s, which is none of the %d that are known", strings.Join(issuers, ", "), len(k.list)).
		WithHint("get the key from whoever publishes the file, compare its fingerprint, and add it to the keyring")
}

// Check implements iso.Keys. Signatures by weak hashes are refused, as are those of keys
// that are revoked or have expired.
func (k keys) Check(content io.Reader, signature []byte, now time.Time) (fingerprint, by string, err error) {
	raw, err := binary(signature, openpgp.SignatureType)
	if err != nil {
		return "", "", err
	}
	signer, err := survived(func() (*openpgp.Entity, error) {
		_, signer, err := openpgp.VerifyDetachedSignature(k.list, content, bytes.NewReader(raw), &packet.Config{Time: func() time.Time { return now }})
		return signer, err
	})
	switch {
	case errors.Is(err, pgperrors.ErrUnknownIssuer):
		return "", "", errors.New("its key is not known")
	case err != nil:
		return "", "", err
	}
	if id := signer.PrimaryIdentity(); id != nil {
		by = printable(id.Name)
	}
	return fmt.Sprintf("%X", signer.PrimaryKey.Fingerprint), by, nil
}

// survived makes an error of a panic in the library: v1.4.1 reads the first byte of subpackets
// that have none (RFC 9580, section 5.2.3.19, "exportable certification"), and anybody may send one.
func survived[T any](read func() (T, error)) (out T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it is broken: %v", p)
		}
	}()
	return read()
}

// printable is a name that somebody else has chosen.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
	if len(s) > maxSigner {
		s = strings.ToValidUTF8(s[:maxSigner], "")
	}
	return s
}

// binary takes the armor off (RFC 9580, section 6), if there is any.
func binary(raw []byte, kind string) ([]byte, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("-----BEGIN")) {
		return raw, nil
	}
	block, err := armor.Decode(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	if block.Type != kind {
		return nil, fmt.Errorf("it is a %.60q, not a %q", block.Type, kind)
	}
	return io.ReadAll(block.Body)
}
