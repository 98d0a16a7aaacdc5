package quotetest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/asn1"
	"maps"
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-tpm/tpm2"

	"rackboot/netboot/attest/enrol"
	"rackboot/netboot/attest/eventlog"
	"rackboot/netboot/attest/tpmkey"
)

// Signer is an attestation key outside of a TPM: it signs whatever it is given.
type Signer struct {
	Key  *tpmkey.Key
	Area tpm2.TPMTPublic

	private crypto.Signer
}

// ECDSA is a key of P-256 that signs with SHA-256.
func ECDSA(t testing.TB) Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	area := enrol.AttestationTemplate()
	area.Unique = tpm2.NewTPMUPublicID(tpm2.TPMAlgECC, &tpm2.TPMSECCPoint{X: tpm2.TPM2BECCParameter{Buffer: point[1:33]}, Y: tpm2.TPM2BECCParameter{Buffer: point[33:]}})
	return signer(t, key, area)
}

// RSA is a key of 2048 bits that signs by RSASSA with SHA-256.
func RSA(t testing.TB) Signer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return signer(t, key, tpm2.TPMTPublic{
		Type: tpm2.TPMAlgRSA, NameAlg: tpm2.TPMAlgSHA256, ObjectAttributes: enrol.AttestationTemplate().ObjectAttributes,
		Parameters: tpm2.NewTPMUPublicParms(tpm2.TPMAlgRSA, &tpm2.TPMSRSAParms{
			Scheme: tpm2.TPMTRSAScheme{
				Scheme:  tpm2.TPMAlgRSASSA,
				Details: tpm2.NewTPMUAsymScheme(tpm2.TPMAlgRSASSA, &tpm2.TPMSSigSchemeRSASSA{HashAlg: tpm2.TPMAlgSHA256}),
			},
			KeyBits: 2048,
		}),
		Unique: tpm2.NewTPMUPublicID(tpm2.TPMAlgRSA, &tpm2.TPM2BPublicKeyRSA{Buffer: key.N.Bytes()}),
	})
}

func signer(t testing.TB, private crypto.Signer, area tpm2.TPMTPublic) Signer {
	t.Helper()
	key, err := tpmkey.Parse(tpm2.Marshal(area))
	if err != nil {
		t.Fatal(err)
	}
	return Signer{Key: key, Area: area, private: private}
}

// Attest is a quote's structure, as a TPM makes it for a key of its endorsement hierarchy.
func (s Signer) Attest(nonce []byte, bank eventlog.Algorithm, pcrs map[int][]byte) tpm2.TPMSAttest {
	sum, selected := sha256.New(), []uint{}
	for _, pcr := range slices.Sorted(maps.Keys(pcrs)) {
		sum.Write(pcrs[pcr])
		selected = append(selected, uint(pcr))
	}
	return tpm2.TPMSAttest{
		Magic: 0xff544347, Type: tpm2.TPMSTAttestQuote,
		QualifiedSigner: tpm2.TPM2BName{Buffer: s.Key.QualifiedName(tpmkey.Endorsement)},
		ExtraData:       tpm2.TPM2BData{Buffer: nonce},
		ClockInfo:       tpm2.TPMSClockInfo{Clock: 1000, ResetCount: 7, RestartCount: 1, Safe: true},
		FirmwareVersion: 0x20230101,
		Attested: tpm2.NewTPMUAttest(tpm2.TPMSTAttestQuote, &tpm2.TPMSQuoteInfo{
			PCRSelect: tpm2.TPMLPCRSelection{PCRSelections: []tpm2.TPMSPCRSelection{
				{Hash: tpm2.TPMIAlgHash(bank), PCRSelect: tpm2.PCClientCompatible.PCRs(selected...)},
			}},
			PCRDigest: tpm2.TPM2BDigest{Buffer: sum.Sum(nil)},
		}),
	}
}

// Quote signs a quote: TPMS_ATTEST and TPMT_SIGNATURE.
func (s Signer) Quote(t testing.TB, nonce []byte, bank eventlog.Algorithm, pcrs map[int][]byte) (quote, signature []byte) {
	t.Helper()
	quote = tpm2.Marshal(s.Attest(nonce, bank, pcrs))
	return quote, s.Sign(t, quote)
}

// Sign signs a message by the key's scheme: TPMT_SIGNATURE.
func (s Signer) Sign(t testing.TB, message []byte) []byte {
	t.Helper()
	digest := sha256.Sum256(message)
	raw, err := s.private.Sign(rand.Reader, digest[:], crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := s.private.(*rsa.PrivateKey); ok {
		return tpm2.Marshal(tpm2.TPMTSignature{
			SigAlg:    tpm2.TPMAlgRSASSA,
			Signature: tpm2.NewTPMUSignature(tpm2.TPMAlgRSASSA, &tpm2.TPMSSignatureRSA{Hash: tpm2.TPMAlgSHA256, Sig: tpm2.TPM2BPublicKeyRSA{Buffer: raw}}),
		})
	}
	var rs struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(raw, &rs); err != nil {
		t.Fatal(err)
	}
	return tpm2.Marshal(tpm2.TPMTSignature{
		SigAlg: tpm2.TPMAlgECDSA,
		Signature: tpm2.NewTPMUSignature(tpm2.TPMAlgECDSA, &tpm2.TPMSSignatureECC{
			Hash: tpm2.TPMAlgSHA256, SignatureR: tpm2.TPM2BECCParameter{Buffer: rs.R.Bytes()}, SignatureS: tpm2.TPM2BECCParameter{Buffer: rs.S.Bytes()},
		}),
	})
}
