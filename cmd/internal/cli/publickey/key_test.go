package publickey

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"strings"
	"testing"

	"rackboot/protocol"
)

func TestParse(t *testing.T) {
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	pub := private.Public().(ed25519.PublicKey)
	block := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	// RFC 8410 §4: the DER form of an Ed25519 public key is this and the 32 bytes.
	der := append([]byte{0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00}, pub...)
	for _, row := range []struct {
		name, in string
		keys     int
	}{
		{"hex", hex.EncodeToString(pub) + "\n", 1},
		{"base64", base64.StdEncoding.EncodeToString(pub), 1},
		{"base64 for URLs", base64.RawURLEncoding.EncodeToString(pub), 1},
		{"PEM", block("PUBLIC KEY", der), 1},
		{"two PEM blocks", block("PUBLIC KEY", der) + block("PUBLIC KEY", der), 2},
		{"a private key", block("PRIVATE KEY", der), 0},
		{"a certificate", block("CERTIFICATE", der), 0},
		{"another kind of key", block("PUBLIC KEY", der[2:]), 0},
		{"PEM that is cut short", block("PUBLIC KEY", der)[:40], 0},
		{"31 bytes", hex.EncodeToString(pub[1:]), 0},
		{"a seed and a key", hex.EncodeToString(private), 0},
		{"nothing", "", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			keys, err := Parse("file", row.in)
			if len(keys) != row.keys || (row.keys == 0) != (protocol.CodeOf(err) == protocol.CodeInvalid) {
				t.Fatalf("%v, %v", keys, err)
			}
			for _, k := range keys {
				if !k.Key.Equal(pub) {
					t.Errorf("%x", k.Key)
				}
			}
			if err != nil && len(row.in) > 8 && strings.Contains(err.Error(), row.in[len(row.in)/2:]) {
				t.Errorf("quotes the file: %v", err)
			}
		})
	}
}
