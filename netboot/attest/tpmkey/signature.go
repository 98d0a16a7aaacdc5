package tpmkey

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"math/big"

	"github.com/google/go-tpm/tpm2"

	"rackboot/protocol"
)

// MaxSignature bounds a signature, in bytes: RSA-4096 has 518.
const MaxSignature = 1024

// SigningHash is the hash of the scheme that the key signs by; ok is false where it has no
// scheme that is taken: RSASSA or ECDSA with SHA-256, SHA-384 or SHA-512.
func (k *Key) SigningHash() (h crypto.Hash, ok bool) {
	switch k.area.Type {
	case tpm2.TPMAlgRSA:
		params, err := k.area.Parameters.RSADetail()
		if err != nil || params.Scheme.Scheme != tpm2.TPMAlgRSASSA {
			return 0, false
		}
		scheme, err := params.Scheme.Details.RSASSA()
		if err != nil {
			return 0, false
		}
		return hashOf(scheme.HashAlg)
	case tpm2.TPMAlgECC:
		params, err := k.area.Parameters.ECCDetail()
		if err != nil || params.Scheme.Scheme != tpm2.TPMAlgECDSA {
			return 0, false
		}
		scheme, err := params.Scheme.Details.ECDSA()
		if err != nil {
			return 0, false
		}
		return hashOf(scheme.HashAlg)
	default:
		return 0, false
	}
}

// Verify reports an error unless the signature, a TPMT_SIGNATURE (TPM 2.0 Library part 2 section
// 11.3.4), is the key's own of the message, by the key's scheme. The error has the code invalid
// for what cannot be read, and denied for what is not the key's.
func (k *Key) Verify(message, signature []byte) error {
	const op = "verify TPM signature"
	if len(signature) > MaxSignature {
		return protocol.Errorf(protocol.CodeInvalid, op, "the signature has %d bytes; more than %d are not read", len(signature), MaxSignature)
	}
	parsed, err := tpm2.Unmarshal[tpm2.TPMTSignature](signature)
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalid, op, "the signature cannot be read: %w", err)
	}
	h, ok := k.SigningHash()
	if !ok {
		return protocol.Errorf(protocol.CodeDenied, op, "the key signs by no scheme that is taken")
	}
	sum := h.New()
	sum.Write(message)
	if !k.signed(parsed, signature, h, sum.Sum(nil)) {
		return protocol.Errorf(protocol.CodeDenied, op, "the signature is not the key's")
	}
	return nil
}

func (k *Key) signed(s *tpm2.TPMTSignature, raw []byte, h crypto.Hash, digest []byte) bool {
	switch public := k.public.(type) {
	case *rsa.PublicKey:
		if s.SigAlg != tpm2.TPMAlgRSASSA || !bytes.Equal(tpm2.Marshal(*s), raw) {
			return false
		}
		sig, err := s.Signature.RSASSA()
		used, ok := crypto.Hash(0), false
		if err == nil {
			used, ok = hashOf(sig.Hash)
		}
		return ok && used == h && rsa.VerifyPKCS1v15(public, h, digest, sig.Sig.Buffer) == nil
	case *ecdsa.PublicKey:
		if s.SigAlg != tpm2.TPMAlgECDSA || !bytes.Equal(tpm2.Marshal(*s), raw) {
			return false
		}
		sig, err := s.Signature.ECDSA()
		used, ok := crypto.Hash(0), false
		if err == nil {
			used, ok = hashOf(sig.Hash)
		}
		r, v := new(big.Int), new(big.Int)
		if ok {
			r.SetBytes(sig.SignatureR.Buffer)
			v.SetBytes(sig.SignatureS.Buffer)
		}
		return ok && used == h && ecdsa.Verify(public, digest, r, v)
	}
	return false
}
