package enrol_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-tpm/tpm2"

	"rackboot/netboot/attest/enrol"
	"rackboot/netboot/attest/quotetest"
	"rackboot/protocol"
)

// endorsement is the public area of a key that is good, with a point of its own.
func endorsement(t testing.TB) tpm2.TPMTPublic {
	area := tpm2.ECCEKTemplate
	area.Unique = quotetest.ECDSA(t).Area.Unique
	return area
}

// What a key may do, is read from its attributes and its scheme or cipher.
func TestKeys(t *testing.T) {
	signing, rsa := quotetest.ECDSA(t).Area, quotetest.RSA(t).Area
	with := func(area tpm2.TPMTPublic, change func(*tpm2.TPMTPublic)) []byte {
		change(&area)
		return tpm2.Marshal(area)
	}
	attribute := func(area tpm2.TPMTPublic, change func(*tpm2.TPMAObject)) []byte {
		change(&area.ObjectAttributes)
		return tpm2.Marshal(area)
	}
	scheme := func(s tpm2.TPMTECCScheme) []byte {
		return with(signing, func(a *tpm2.TPMTPublic) {
			a.Parameters = tpm2.NewTPMUPublicParms(tpm2.TPMAlgECC, &tpm2.TPMSECCParms{Scheme: s, CurveID: tpm2.TPMECCNistP256})
		})
	}
	for _, c := range []struct {
		name string
		area []byte
		want enrol.Fault
	}{
		{"good", tpm2.Marshal(signing), enrol.NoFault},
		{"good of RSA", tpm2.Marshal(rsa), enrol.NoFault},
		{"not made in the TPM", attribute(signing, func(a *tpm2.TPMAObject) { a.SensitiveDataOrigin = false }), enrol.Imported},
		{"can be taken elsewhere", attribute(signing, func(a *tpm2.TPMAObject) { a.FixedTPM = false }), enrol.Imported},
		{"can be taken elsewhere with its parent", attribute(signing, func(a *tpm2.TPMAObject) { a.FixedParent = false }), enrol.Imported},
		{"signs anything", attribute(signing, func(a *tpm2.TPMAObject) { a.Restricted = false }), enrol.Unrestricted},
		{"does not sign", attribute(signing, func(a *tpm2.TPMAObject) { a.SignEncrypt = false }), enrol.NotSigning},
		{"decrypts too", attribute(signing, func(a *tpm2.TPMAObject) { a.Decrypt = true }), enrol.NotSigning},
		{"no scheme", scheme(tpm2.TPMTECCScheme{}), enrol.OtherScheme},
		{"signs by SHA-1", scheme(tpm2.TPMTECCScheme{Scheme: tpm2.TPMAlgECDSA, Details: tpm2.NewTPMUAsymScheme(tpm2.TPMAlgECDSA, &tpm2.TPMSSigSchemeECDSA{HashAlg: tpm2.TPMAlgSHA1})}), enrol.OtherScheme},
		{"nothing", nil, enrol.Unreadable},
	} {
		if key, got := enrol.AttestationKey(c.area); got != c.want || (key == nil) != (c.want != enrol.NoFault) {
			t.Errorf("%s: %v, want %s", c.name, got, string(c.want))
		}
	}
	cipher := func(s tpm2.TPMTSymDefObject) []byte {
		return with(endorsement(t), func(a *tpm2.TPMTPublic) {
			a.Parameters = tpm2.NewTPMUPublicParms(tpm2.TPMAlgECC, &tpm2.TPMSECCParms{Symmetric: s, CurveID: tpm2.TPMECCNistP256})
		})
	}
	aes := func(bits uint16, mode tpm2.TPMAlgID) []byte {
		return cipher(tpm2.TPMTSymDefObject{Algorithm: tpm2.TPMAlgAES, KeyBits: tpm2.NewTPMUSymKeyBits(tpm2.TPMAlgAES, tpm2.TPMKeyBits(bits)), Mode: tpm2.NewTPMUSymMode(tpm2.TPMAlgAES, mode)})
	}
	rsaEndorsement := tpm2.RSAEKTemplate
	rsaEndorsement.Unique = rsa.Unique
	for _, c := range []struct {
		name string
		area []byte
		want enrol.Fault
	}{
		{"good", tpm2.Marshal(endorsement(t)), enrol.NoFault},
		{"good of RSA", tpm2.Marshal(rsaEndorsement), enrol.NoFault},
		{"AES-256", aes(256, tpm2.TPMAlgCFB), enrol.NoFault},
		{"can be taken elsewhere", attribute(endorsement(t), func(a *tpm2.TPMAObject) { a.FixedTPM = false }), enrol.Imported},
		{"decrypts anything", attribute(endorsement(t), func(a *tpm2.TPMAObject) { a.Restricted = false }), enrol.Unrestricted},
		{"signs too", attribute(endorsement(t), func(a *tpm2.TPMAObject) { a.SignEncrypt = true }), enrol.NotDecrypting},
		{"signs only", tpm2.Marshal(signing), enrol.NotDecrypting},
		{"no cipher", cipher(tpm2.TPMTSymDefObject{}), enrol.OtherCipher},
		{"AES-64", aes(64, tpm2.TPMAlgCFB), enrol.OtherCipher},
		{"AES-CTR", aes(128, tpm2.TPMAlgCTR), enrol.OtherCipher},
		{"nothing", nil, enrol.Unreadable},
	} {
		if key, got := enrol.EndorsementKey(c.area); got != c.want || (key == nil) != (c.want != enrol.NoFault) {
			t.Errorf("%s: %v, want %s", c.name, got, string(c.want))
		}
	}
}

// A challenge is another each time, its secret is in none of its parts, and only the secret answers.
func TestChallenge(t *testing.T) {
	to, fault := enrol.EndorsementKey(tpm2.Marshal(endorsement(t)))
	if fault != enrol.NoFault {
		t.Fatal(fault)
	}
	key := quotetest.ECDSA(t).Key
	one, secret, err := enrol.NewChallenge(rand.Reader, to, key)
	if err != nil {
		t.Fatal(err)
	}
	two, other, err := enrol.NewChallenge(rand.Reader, to, key)
	if err != nil {
		t.Fatal(err)
	}
	if string(one.Blob) == string(two.Blob) || strings.Contains(string(one.Blob)+string(one.Seed), string(secret.Bytes())) {
		t.Errorf("%+v", one)
	}
	if !enrol.SecretOf(secret.Bytes()).Answered(secret.Bytes()) || secret.Answered(other.Bytes()) || secret.Answered(nil) || (enrol.Secret{}).Answered(nil) {
		t.Error("another answer")
	}
	if text := fmt.Sprintf("%v %+v %s", secret, secret, secret); strings.Contains(text, fmt.Sprint(secret.Bytes()[0])) || text != "(secret) (secret) (secret)" {
		t.Errorf("it is shown: %s", text)
	}
	var e *protocol.Error
	if _, _, err := enrol.NewChallenge(strings.NewReader("short"), to, key); !errors.As(err, &e) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("without randomness: %v", err)
	}
}

// FuzzKeys: no area makes it fail, and what is taken can be wrapped for.
func FuzzKeys(f *testing.F) {
	key := quotetest.ECDSA(f)
	f.Add(tpm2.Marshal(key.Area))
	f.Add(tpm2.Marshal(endorsement(f)))
	rsa := tpm2.RSAEKTemplate
	rsa.Unique = quotetest.RSA(f).Area.Unique
	f.Add(tpm2.Marshal(rsa))
	f.Fuzz(func(t *testing.T, area []byte) {
		_, _ = enrol.AttestationKey(area)
		to, fault := enrol.EndorsementKey(area)
		if fault != enrol.NoFault {
			return
		}
		if _, _, err := enrol.NewChallenge(rand.Reader, to, key.Key); err != nil {
			t.Errorf("%x was taken: %v", area, err)
		}
	})
}
