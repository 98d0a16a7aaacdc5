package enrol

import (
	"github.com/google/go-tpm/tpm2"

	"rackboot/netboot/attest/tpmkey"
)

// Fault is what a key lacks for its use.
type Fault string

// Faults. NoFault is the empty one.
const (
	NoFault       Fault = ""
	Unreadable    Fault = "unreadable"     // no public area of an algorithm and size that is taken
	Imported      Fault = "imported"       // it was made elsewhere, or can be taken elsewhere: fixedTPM, fixedParent, sensitiveDataOrigin
	Unrestricted  Fault = "unrestricted"   // it signs, or decrypts, whatever it is given
	NotSigning    Fault = "not-signing"    // it does not sign, or decrypts too
	NotDecrypting Fault = "not-decrypting" // it does not decrypt, or signs too
	OtherScheme   Fault = "other-scheme"   // it signs by no scheme that is taken
	OtherCipher   Fault = "other-cipher"   // what is wrapped for it is not by AES in CFB mode
)

// facts are what rules see of a key.
type facts struct {
	own        bool // made in this TPM, which it never leaves
	restricted bool
	signs      bool
	decrypts   bool
	algorithm  bool // of the scheme, or of the cipher
}

func factsOf(k *tpmkey.Key, algorithm bool) facts {
	a := k.Attributes()
	return facts{a.FixedTPM && a.FixedParent && a.SensitiveDataOrigin, a.Restricted, a.SignEncrypt, a.Decrypt, algorithm}
}

// AttestationKey reads the public area (TPMT_PUBLIC) of a key that is to sign quotes; it returns nil
// and the fault where it must not.
func AttestationKey(area []byte) (*tpmkey.Key, Fault) {
	k, err := tpmkey.Parse(area)
	if err != nil {
		return nil, Unreadable
	}
	_, scheme := k.SigningHash()
	if f := attestationFault(factsOf(k, scheme)); f != NoFault {
		return nil, f
	}
	return k, NoFault
}

// attestationFault is the rule of keys that sign quotes. Only a restricted key refuses to sign a
// forged quote (TPM 2.0 Library part 3 section 18.1).
//
//	own | restricted | signs | decrypts | algorithm | fault
//	no  | *          | *     | *        | *         | imported
//	yes | *          | no    | *        | *         | not-signing
//	yes | *          | yes   | yes      | *         | not-signing
//	yes | no         | yes   | no       | *         | unrestricted
//	yes | yes        | yes   | no       | no        | other-scheme
//	yes | yes        | yes   | no       | yes       | none
func attestationFault(f facts) Fault {
	switch {
	case !f.own:
		return Imported
	case !f.signs || f.decrypts:
		return NotSigning
	case !f.restricted:
		return Unrestricted
	case !f.algorithm:
		return OtherScheme
	}
	return NoFault
}

// EndorsementKey reads the public area of a key that is to be a TPM's endorsement key, by the
// templates of the TCG EK Credential Profile 2.5 or any with the same use; it returns nil and the
// fault where it must not be one.
func EndorsementKey(area []byte) (*tpmkey.Key, Fault) {
	k, err := tpmkey.Parse(area)
	if err != nil {
		return nil, Unreadable
	}
	if f := endorsementFault(factsOf(k, wrapsByAES(k))); f != NoFault {
		return nil, f
	}
	return k, NoFault
}

// endorsementFault is the rule of keys for which challenges and secrets are wrapped.
//
//	own | restricted | signs | decrypts | algorithm | fault
//	no  | *          | *     | *        | *         | imported
//	yes | *          | *     | no       | *         | not-decrypting
//	yes | *          | yes   | yes      | *         | not-decrypting
//	yes | no         | no    | yes      | *         | unrestricted
//	yes | yes        | no    | yes      | no        | other-cipher
//	yes | yes        | no    | yes      | yes       | none
func endorsementFault(f facts) Fault {
	switch {
	case !f.own:
		return Imported
	case !f.decrypts || f.signs:
		return NotDecrypting
	case !f.restricted:
		return Unrestricted
	case !f.algorithm:
		return OtherCipher
	}
	return NoFault
}

// wrapsByAES reports whether a storage key's children are wrapped by AES in CFB mode.
func wrapsByAES(k *tpmkey.Key) bool {
	area := k.Structure()
	var cipher tpm2.TPMTSymDefObject
	switch area.Type {
	case tpm2.TPMAlgRSA:
		p, err := area.Parameters.RSADetail()
		if err != nil {
			return false
		}
		cipher = p.Symmetric
	case tpm2.TPMAlgECC:
		p, err := area.Parameters.ECCDetail()
		if err != nil {
			return false
		}
		cipher = p.Symmetric
	default:
		return false
	}
	if cipher.Algorithm != tpm2.TPMAlgAES {
		return false
	}
	bits, bitsErr := cipher.KeyBits.AES()
	mode, modeErr := cipher.Mode.AES()
	return bitsErr == nil && modeErr == nil && (*bits == 128 || *bits == 256) && *mode == tpm2.TPMAlgCFB
}
