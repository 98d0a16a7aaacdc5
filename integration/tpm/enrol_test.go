package tpm

import (
	"bytes"
	"crypto/rand"
	"crypto/x509"
	"testing"
	"time"

	"github.com/google/go-tpm/tpm2"

	"rackboot/netboot/attest/enrol"
	"rackboot/netboot/attest/tpmkey"
)

// certificateIndex is where a TPM has the certificate of its RSA endorsement key (TCG EK Credential
// Profile 2.5 section 2.2.1.4).
const certificateIndex = 0x01c00002

// A TPM is enrolled by its two keys: its certificate leads to the authority that made it, and
// only it answers the challenge.
func TestEnrol(t *testing.T) {
	c, other := manufacture(t), manufacture(t)
	root, issuer := c.authorities()
	otherRoot, otherIssuer := other.authorities()
	rsa, ecc := c.primary(tpm2.RSAEKTemplate), c.primary(tpm2.ECCEKTemplate)
	rsaKey, fault := enrol.EndorsementKey(rsa.area)
	if fault != enrol.NoFault {
		t.Fatal(fault)
	}
	eccKey, fault := enrol.EndorsementKey(ecc.area)
	if fault != enrol.NoFault {
		t.Fatal(fault)
	}
	der, now := c.stored(certificateIndex), time.Now()
	given := enrol.Authorities{Roots: []*x509.Certificate{root}, Intermediates: []*x509.Certificate{issuer}}
	for _, row := range []struct {
		name string
		key  *tpmkey.Key
		der  []byte
		by   enrol.Authorities
		now  time.Time
		want enrol.Origin
	}{
		{"its own authority", rsaKey, der, given, now, enrol.Vouched},
		{"zeros behind it, as of an NV index that is too long", rsaKey, append(bytes.Clone(der), 0, 0, 0), given, now, enrol.Vouched},
		{"something behind it", rsaKey, append(bytes.Clone(der), 1), given, now, enrol.BadCertificate},
		{"no authority", rsaKey, der, enrol.Authorities{}, now, enrol.NoAuthority},
		{"no certificate", rsaKey, nil, given, now, enrol.NoCertificate},
		{"another authority", rsaKey, der, enrol.Authorities{Roots: []*x509.Certificate{otherRoot}, Intermediates: []*x509.Certificate{otherIssuer, issuer}}, now, enrol.OtherAuthority},
		{"no issuer between", rsaKey, der, enrol.Authorities{Roots: []*x509.Certificate{root}}, now, enrol.OtherAuthority},
		{"an authority's certificate", rsaKey, issuer.Raw, given, now, enrol.BadCertificate},
		{"of another key", eccKey, der, given, now, enrol.OtherKey},
		{"of another TPM", rsaKey, other.stored(certificateIndex), given, now, enrol.OtherKey},
		{"before it was made", rsaKey, der, given, now.Add(-24 * time.Hour), enrol.Expired},
		{"cut", rsaKey, der[:len(der)-1], given, now, enrol.BadCertificate},
	} {
		if got := enrol.Certificate(row.key, row.der, row.by, row.now); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}

	for name, template := range map[string]tpm2.TPMTPublic{"ECDSA": enrol.AttestationTemplate(), "RSA": signingRSA()} {
		signing := c.primary(template)
		key, fault := enrol.AttestationKey(signing.area)
		if fault != enrol.NoFault {
			t.Fatalf("%s: %s", name, fault)
		}
		if !bytes.Equal(key.Name(), signing.Name.Buffer) {
			t.Errorf("%s: name %x, the TPM says %x", name, key.Name(), signing.Name.Buffer)
		}
		stranger, strangers := other.primary(template), other.primary(tpm2.RSAEKTemplate)
		for kind, endorsement := range map[string]struct {
			key           *tpmkey.Key
			handle, third loaded
		}{"RSA": {rsaKey, rsa, ecc}, "ECC": {eccKey, ecc, rsa}} {
			challenge, secret, err := enrol.NewChallenge(rand.Reader, endorsement.key, key)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := c.activate(endorsement.handle, signing, challenge)
			if err != nil || !secret.Answered(answer) {
				t.Errorf("%s below %s: %v", name, kind, err)
			}
			if answer, err := c.activate(endorsement.handle, endorsement.third, challenge); err == nil {
				t.Errorf("%s below %s: another key of the TPM answers %v", name, kind, secret.Answered(answer))
			}
			if answer, err := other.activate(strangers, stranger, challenge); err == nil {
				t.Errorf("%s below %s: another TPM answers %v", name, kind, secret.Answered(answer))
			}
		}
		c.release(signing)
		other.release(stranger)
		other.release(strangers)
	}
	if _, fault := enrol.AttestationKey(c.primary(unrestricted()).area); fault != enrol.Unrestricted {
		t.Errorf("a key that signs anything: %s", fault)
	}
	if _, fault := enrol.AttestationKey(rsa.area); fault != enrol.NotSigning {
		t.Errorf("an endorsement key to sign with: %s", fault)
	}
}

// unrestricted is the template of a key that signs whatever it is given, also a forged quote.
func unrestricted() tpm2.TPMTPublic {
	template := enrol.AttestationTemplate()
	template.ObjectAttributes.Restricted = false
	return template
}
