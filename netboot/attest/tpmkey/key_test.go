package tpmkey_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-tpm/tpm2"

	"rackboot/netboot/attest/quotetest"
	"rackboot/netboot/attest/tpmkey"
	"rackboot/protocol"
)

// A key is read whole, and its names are those that TPMs give.
func TestParse(t *testing.T) {
	for kind, s := range map[string]quotetest.Signer{"ECDSA": quotetest.ECDSA(t), "RSA": quotetest.RSA(t)} {
		area := tpm2.Marshal(s.Area)
		name, err := tpm2.ObjectName(&s.Area)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(s.Key.Area(), area) || !bytes.Equal(s.Key.Name(), name.Buffer) {
			t.Errorf("%s: area %x, name %x", kind, s.Key.Area(), s.Key.Name())
		}
		if s.Key.Attributes() != s.Area.ObjectAttributes {
			t.Errorf("%s: %+v", kind, s.Key.Attributes())
		}
		names := [][]byte{s.Key.QualifiedName(tpmkey.Owner), s.Key.QualifiedName(tpmkey.Endorsement)}
		if bytes.Equal(names[0], names[1]) || len(names[0]) != len(name.Buffer) {
			t.Errorf("%s: names %x", kind, names)
		}
		s.Key.Area()[0], s.Key.Name()[0] = 0xff, 0xff
		if !bytes.Equal(s.Key.Area(), area) || !bytes.Equal(s.Key.Name(), name.Buffer) {
			t.Errorf("%s: it was changed", kind)
		}
	}
}

// Keys that are weak, or that can be read in two ways, are refused.
func TestParseRefuses(t *testing.T) {
	ecc, rsa := quotetest.ECDSA(t).Area, quotetest.RSA(t).Area
	changed := func(area tpm2.TPMTPublic, change func(*tpm2.TPMTPublic)) []byte {
		change(&area)
		return tpm2.Marshal(area)
	}
	modulus := func(bits uint16, exponent uint32, n ...byte) []byte {
		return changed(rsa, func(a *tpm2.TPMTPublic) {
			a.Parameters = tpm2.NewTPMUPublicParms(tpm2.TPMAlgRSA, &tpm2.TPMSRSAParms{KeyBits: tpm2.TPMKeyBits(bits), Exponent: exponent})
			a.Unique = tpm2.NewTPMUPublicID(tpm2.TPMAlgRSA, &tpm2.TPM2BPublicKeyRSA{Buffer: n})
		})
	}
	ones := func(n int) []byte { return bytes.Repeat([]byte{0xff}, n) }
	point := func(x, y []byte) []byte {
		return changed(ecc, func(a *tpm2.TPMTPublic) {
			a.Unique = tpm2.NewTPMUPublicID(tpm2.TPMAlgECC, &tpm2.TPMSECCPoint{X: tpm2.TPM2BECCParameter{Buffer: x}, Y: tpm2.TPM2BECCParameter{Buffer: y}})
		})
	}
	for name, c := range map[string]struct {
		area []byte
		want string
	}{
		"nothing":               {nil, "cannot be read"},
		"too long":              {make([]byte, tpmkey.MaxArea+1), "more than"},
		"cut":                   {tpm2.Marshal(ecc)[:50], "cannot be read"},
		"a byte behind":         {append(tpm2.Marshal(ecc), 0), "more than one reading"},
		"a sealed object":       {tpm2.Marshal(tpm2.TPMTPublic{Type: tpm2.TPMAlgKeyedHash, NameAlg: tpm2.TPMAlgSHA256, Parameters: tpm2.NewTPMUPublicParms(tpm2.TPMAlgKeyedHash, &tpm2.TPMSKeyedHashParms{}), Unique: tpm2.NewTPMUPublicID(tpm2.TPMAlgKeyedHash, &tpm2.TPM2BDigest{})}), "of type 0x0008"},
		"a name by SHA-1":       {changed(ecc, func(a *tpm2.TPMTPublic) { a.NameAlg = tpm2.TPMAlgSHA1 }), "name is by algorithm 0x0004"},
		"no name":               {changed(ecc, func(a *tpm2.TPMTPublic) { a.NameAlg = tpm2.TPMAlgNull }), "name is by algorithm 0x0010"},
		"RSA of 1024 bits":      {modulus(1024, 0, ones(128)...), "1024 bits"},
		"RSA of 7000 bits":      {modulus(7000, 0, ones(875)...), "7000 bits"},
		"RSA of another size":   {modulus(4096, 0, ones(256)...), "2048 bits"},
		"an even modulus":       {modulus(2048, 0, append(ones(255), 0xfe)...), "no modulus of two primes"},
		"the exponent 3":        {modulus(2048, 3, ones(256)...), "the exponent 3"},
		"no point of a curve":   {point(ones(32), ones(32)), "no point of its curve"},
		"the point at infinity": {point(nil, nil), "no point of its curve"},
		"a point of many bytes": {point(ones(200), ones(200)), "no point of its curve"},
		"a curve of SM2": {changed(ecc, func(a *tpm2.TPMTPublic) {
			a.Parameters = tpm2.NewTPMUPublicParms(tpm2.TPMAlgECC, &tpm2.TPMSECCParms{CurveID: tpm2.TPMECCSM2P256})
		}), "cannot be read"},
	} {
		var e *protocol.Error
		if _, err := tpmkey.Parse(c.area); !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) || !slices.Contains([]protocol.Code{protocol.CodeInvalid, protocol.CodeUnsupported}, e.Code) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A signature is by the key's scheme, or not the key's.
func TestVerify(t *testing.T) {
	message := []byte("message")
	for kind, s := range map[string]quotetest.Signer{"ECDSA": quotetest.ECDSA(t), "RSA": quotetest.RSA(t)} {
		good := s.Sign(t, message)
		if err := s.Key.Verify(message, good); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if err := s.Key.Verify([]byte("another"), good); err == nil {
			t.Errorf("%s: of another message", kind)
		}
		for at := range good {
			bad := slices.Clone(good)
			bad[at] ^= 1
			if s.Key.Verify(message, bad) == nil {
				t.Errorf("%s: byte %d does not matter", kind, at)
			}
		}
		decrypting := s.Area
		decrypting.Parameters = tpm2.NewTPMUPublicParms(tpm2.TPMAlgRSA, &tpm2.TPMSRSAParms{KeyBits: 2048})
		if kind == "ECDSA" {
			decrypting.Parameters = tpm2.NewTPMUPublicParms(tpm2.TPMAlgECC, &tpm2.TPMSECCParms{CurveID: tpm2.TPMECCNistP256})
		}
		key, err := tpmkey.Parse(tpm2.Marshal(decrypting))
		if err != nil {
			t.Fatal(err)
		}
		if key.Verify(message, good) == nil {
			t.Errorf("%s: a key without a scheme signed", kind)
		}
	}
}

// FuzzParse: no area makes it fail, and what is read is the whole of it.
func FuzzParse(f *testing.F) {
	for _, s := range []quotetest.Signer{quotetest.ECDSA(f), quotetest.RSA(f)} {
		f.Add(tpm2.Marshal(s.Area), s.Sign(f, []byte("message")))
	}
	for _, template := range []tpm2.TPMTPublic{tpm2.RSAEKTemplate, tpm2.ECCEKTemplate, tpm2.RSASRKTemplate, tpm2.ECCSRKTemplate} {
		f.Add(tpm2.Marshal(template), []byte{0, 0x10})
	}
	f.Fuzz(func(t *testing.T, area, signature []byte) {
		key, err := tpmkey.Parse(area)
		if err != nil {
			return
		}
		if !bytes.Equal(key.Area(), area) || len(key.Name()) < 34 || key.Public() == nil {
			t.Errorf("%x is %x", area, key.Area())
		}
		_ = key.Verify([]byte("message"), signature)
		_ = key.QualifiedName(tpmkey.Endorsement)
	})
}
