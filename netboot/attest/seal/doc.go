// Package seal wraps a secret so that only one TPM opens it, and only while PCRs have the values
// that it is given: it makes what TPM2_Import takes (TPM 2.0 Library part 3 section 13.3), and
// needs of the TPM nothing but a public key.
//
// Whether the values are those of a boot that may have the secret, is for who calls: package
// attest says it.
package seal
