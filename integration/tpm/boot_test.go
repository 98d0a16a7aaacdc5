package tpm

import (
	"bytes"
	"crypto/rand"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-tpm/tpm2"

	"rackboot/netboot/attest"
	"rackboot/netboot/attest/enrol"
	"rackboot/netboot/attest/eventlog"
	"rackboot/netboot/attest/logtest"
	"rackboot/netboot/attest/pehash"
	"rackboot/netboot/attest/seal"
)

// booted is a TPM after the boot that was recorded, and what was expected of it.
type booted struct {
	*chip
	log      []byte
	signing  loaded
	storage  loaded
	enrolled attest.Enrolment
	expect   attest.Expectation
}

func boot(t *testing.T, signing tpm2.TPMTPublic) *booted {
	t.Helper()
	raw, _ := logtest.Recorded(t, logtest.Unified)
	b := &booted{chip: manufacture(t), log: raw}
	b.boot(b.parsed())
	b.keys(signing)
	event := func(n int) []byte { return b.parsed().Events[n].Digest(eventlog.SHA256) }
	b.expect = attest.Expectation{
		Nonce: []byte("0123456789abcdef"), Bank: eventlog.SHA256,
		Images: []attest.Item{{Name: "image", Digest: event(24)}, {Name: "kernel", Digest: event(33)}},
	}
	for i := 25; i < 33; i += 2 {
		b.expect.Sections = append(b.expect.Sections, pehash.Measured{Name: b.parsed().Events[i].Text(), NameDigest: event(i), Digest: event(i + 1)})
	}
	return b
}

// keys makes the keys again, which are the same after each start.
func (b *booted) keys(signing tpm2.TPMTPublic) {
	b.t.Helper()
	b.signing, b.storage = b.primary(signing), b.primary(tpm2.RSAEKTemplate)
	attestation, fault := enrol.AttestationKey(b.signing.area)
	if fault != enrol.NoFault {
		b.t.Fatal(fault)
	}
	endorsement, fault := enrol.EndorsementKey(b.storage.area)
	if fault != enrol.NoFault {
		b.t.Fatal(fault)
	}
	b.enrolled = attest.Enrolment{Endorsement: endorsement, Attestation: attestation}
}

func (b *booted) parsed() *eventlog.Log {
	b.t.Helper()
	log, err := eventlog.Parse(b.log)
	if err != nil {
		b.t.Fatal(err)
	}
	return log
}

// report is what the machine sends.
func (b *booted) report() attest.Evidence {
	b.t.Helper()
	pcrs := append([]int{0, 1, 2, 3}, slices.DeleteFunc(b.expect.PCRs(), func(pcr int) bool { return pcr < 4 })...)
	quote, signature := b.quote(b.signing, b.expect.Nonce, pcrs)
	return attest.Evidence{Quote: quote, Signature: signature, PCRs: b.read(pcrs), Log: b.log}
}

// A TPM's own quote of what was measured is believed, and nothing else.
func TestQuote(t *testing.T) {
	for name, signing := range map[string]tpm2.TPMTPublic{"ECDSA": enrol.AttestationTemplate(), "RSA": signingRSA()} {
		t.Run(name, func(t *testing.T) {
			b := boot(t, signing)
			good := b.report()
			if v := attest.Verify(b.enrolled, good, b.expect); !v.Attested() || !v.Counted {
				t.Fatalf("%+v", v)
			}
			other := boot(t, signing)
			for _, row := range []struct {
				name     string
				enrolled attest.Enrolment
				evidence attest.Evidence
				expect   attest.Expectation
				want     attest.Code
			}{
				{"another TPM", other.enrolled, good, b.expect, attest.WrongKey},
				{"a stale nonce", b.enrolled, good, with(b.expect, func(x *attest.Expectation) { x.Nonce = []byte("fedcba9876543210") }), attest.WrongNonce},
				{"another image expected", b.enrolled, good, with(b.expect, func(x *attest.Expectation) { x.Images = x.Images[1:] }), attest.OtherImage},
				{"Secure Boot expected", b.enrolled, good, with(b.expect, func(x *attest.Expectation) { x.SecureBoot = true }), attest.NotQuoted},
				{"an edited log", b.enrolled, with(good, func(e *attest.Evidence) { e.Log = edited(b.parsed()) }), b.expect, attest.LogDoesNotReplay},
				{"an edited signature", b.enrolled, with(good, func(e *attest.Evidence) { e.Signature = bytes.Clone(e.Signature); e.Signature[20] ^= 1 }), b.expect, attest.BadSignature},
			} {
				if v := attest.Verify(row.enrolled, row.evidence, row.expect); v.Attested() || !v.Has(row.want) {
					t.Errorf("%s: %+v, want %s", row.name, v.Differences, row.want)
				}
			}
			b.extend(12, bytes.Repeat([]byte{1}, 32))
			if v := attest.Verify(b.enrolled, b.report(), b.expect); !v.Has(attest.LogDoesNotReplay) {
				t.Errorf("extended since: %+v", v.Differences)
			}
			b.restart()
			b.keys(signing)
			if v := attest.Verify(b.enrolled, b.report(), b.expect); !v.Has(attest.LogDoesNotReplay) {
				t.Errorf("nothing booted: %+v", v.Differences)
			}
		})
	}
}

func with[T any](value T, change func(*T)) T {
	change(&value)
	return value
}

// edited is the log without the image that was started.
func edited(log *eventlog.Log) []byte {
	return logtest.New(eventlog.SHA256).Append(slices.Delete(slices.Clone(log.Events), 24, 25)...).Bytes()
}

// A secret is opened by the TPM that it is for, in the boot that was attested.
func TestSeal(t *testing.T) {
	b := boot(t, enrol.AttestationTemplate())
	v := attest.Verify(b.enrolled, b.report(), b.expect)
	policy, err := v.Policy()
	if err != nil || policy.Resets == nil {
		t.Fatalf("%+v: %v", policy, err)
	}
	b.release(b.signing)
	secret := []byte("a key of 32 bytes, for one boot.")
	ecc := b.primary(tpm2.ECCEKTemplate)
	eccKey, fault := enrol.EndorsementKey(ecc.area)
	if fault != enrol.NoFault {
		t.Fatal(fault)
	}
	wrap := func(p seal.Policy) seal.Sealed {
		s, err := seal.Wrap(rand.Reader, b.enrolled.Endorsement, secret, p)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	sealed := wrap(policy)
	lasting := policy
	lasting.Resets = nil
	forever := wrap(lasting)
	below, err := seal.Wrap(rand.Reader, eccKey, secret, policy)
	if err != nil {
		t.Fatal(err)
	}
	opens := func(what string, s seal.Sealed, parent loaded, p seal.Policy, want error) {
		t.Helper()
		if got, err := b.open(parent, s, p); !errors.Is(err, want) || want == nil && !bytes.Equal(got, secret) {
			t.Errorf("%s: %q, %v", what, got, err)
		}
	}
	opens("in its boot", sealed, b.storage, policy, nil)
	opens("below a key of a curve", below, ecc, policy, nil)
	opens("under less than its policy", sealed, b.storage, lasting, tpm2.TPMRCPolicyFail)
	broken := sealed
	broken.Public = bytes.Clone(sealed.Public)
	broken.Public[7] ^= 0x40 // userWithAuth: opened by a password that is empty
	opens("with other attributes", broken, b.storage, policy, tpm2.TPMRCIntegrity)
	wrong := seal.Policy{Bank: eventlog.SHA256, Values: map[int][]byte{4: make([]byte, 32)}}
	opens("for another boot", wrap(wrong), b.storage, wrong, tpm2.TPMRCPolicyFail)
	b.release(ecc)

	other := manufacture(t)
	other.boot(b.parsed())
	if got, err := other.open(other.primary(tpm2.ECCEKTemplate), below, policy); !errors.Is(err, tpm2.TPMRCIntegrity) {
		t.Errorf("in another TPM: %q, %v", got, err)
	}

	b.restart()
	b.boot(b.parsed())
	b.keys(enrol.AttestationTemplate())
	opens("after another start, with the same PCRs", sealed, b.storage, policy, tpm2.TPMRCPolicy)
	opens("without the count of starts", forever, b.storage, lasting, nil)
	b.extend(12, bytes.Repeat([]byte{1}, 32))
	opens("after something was measured", forever, b.storage, lasting, tpm2.TPMRCPolicyFail)
}
