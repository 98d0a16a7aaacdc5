package wire

import (
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestKeyFile(t *testing.T) {
	key := testKey(3)
	private, public, err := EncodeKey(key)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ParsePrivateKey(private); err != nil || !got.Equal(key) {
		t.Errorf("private: %v", err)
	}
	if got, err := ParsePublicKey(public); err != nil || !got.Equal(key.Public()) {
		t.Errorf("public: %v", err)
	}
	for name, text := range map[string]string{
		"nothing": "", "no PEM": "key", "the private half": string(private), "too long": strings.Repeat("x", MaxKeyFile+1),
		"no key in it": "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
	} {
		_, err := ParsePublicKey([]byte(text))
		if protocol.CodeOf(err) != protocol.CodeInvalid || len(text) > 20 && strings.Contains(err.Error(), text[30:40]) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ParsePrivateKey(public); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("the public half: %v", err)
	}
}

// FuzzKeyFile feeds what people may take for a key file.
func FuzzKeyFile(f *testing.F) {
	private, public, err := EncodeKey(testKey(3))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(private)
	f.Add(public)
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if key, err := ParsePrivateKey(text); err == nil {
			if again, _, err := EncodeKey(key); err != nil {
				t.Errorf("%v of %q", err, again)
			}
		}
		if key, err := ParsePublicKey(text); err == nil && len(key) != 32 {
			t.Errorf("a key of %d bytes", len(key))
		}
	})
}

// FuzzApproval feeds what a hub in foreign hands may put into a hold document: whatever
// opens was signed, and is judged without harm.
func FuzzApproval(f *testing.F) {
	good, err := Seal(NewSigner(testKey(3)), FactApproval, approval())
	if err != nil {
		f.Fatal(err)
	}
	everyday, err := Seal(NewSigner(testKey(0)), FactApproval, approval())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(everyday)
	f.Add(good[:len(good)-1])
	f.Add([]byte(nil))
	v := NewVerifier(NewSigner(testKey(3)).Public())
	f.Fuzz(func(t *testing.T, data []byte) {
		var a resource.Approval
		if err := Open(v, FactApproval, data, &a); err == nil && string(data) != string(good) {
			t.Errorf("opened what was not signed: %+v", a)
		}
		a.Validate()
	})
}
