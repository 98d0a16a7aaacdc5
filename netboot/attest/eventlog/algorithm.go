package eventlog

import (
	"crypto"
	_ "crypto/sha1"   // it is read, to be refused
	_ "crypto/sha256" // banks
	_ "crypto/sha512" // banks
	"fmt"
)

// Algorithm is the hash algorithm of a bank of PCRs, by its TPM_ALG_ID (TCG Algorithm
// Registry).
type Algorithm uint16

// The algorithms of banks.
const (
	SHA1    Algorithm = 0x0004
	SHA256  Algorithm = 0x000b
	SHA384  Algorithm = 0x000c
	SHA512  Algorithm = 0x000d
	SM3     Algorithm = 0x0012
	SHA3256 Algorithm = 0x0027
	SHA3384 Algorithm = 0x0028
	SHA3512 Algorithm = 0x0029
)

// String is the algorithm's usual name.
func (a Algorithm) String() string {
	switch a {
	case SHA1:
		return "sha1"
	case SHA256:
		return "sha256"
	case SHA384:
		return "sha384"
	case SHA512:
		return "sha512"
	case SM3:
		return "sm3_256"
	case SHA3256:
		return "sha3_256"
	case SHA3384:
		return "sha3_384"
	case SHA3512:
		return "sha3_512"
	}
	return fmt.Sprintf("algorithm %#04x", uint16(a))
}

// Size is the length of a digest in bytes; 0 of an unknown algorithm.
func (a Algorithm) Size() int {
	switch a {
	case SHA1:
		return 20
	case SHA256, SM3, SHA3256:
		return 32
	case SHA384, SHA3384:
		return 48
	case SHA512, SHA3512:
		return 64
	}
	return 0
}

// Hash is the algorithm as a [crypto.Hash], and whether a bank of it is proof: SHA-1 is
// not, because its collisions can be made, and what is not computed here is not either.
func (a Algorithm) Hash() (h crypto.Hash, proof bool) {
	switch a {
	case SHA256:
		return crypto.SHA256, true
	case SHA384:
		return crypto.SHA384, true
	case SHA512:
		return crypto.SHA512, true
	case SHA1, SM3, SHA3256, SHA3384, SHA3512:
	}
	return 0, false
}
