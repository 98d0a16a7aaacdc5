// Package tpmkey reads the public areas of keys in TPMs (TPMT_PUBLIC, TPM 2.0 Library part 2
// section 12.2.4), as hostile input: a key is RSA of 2048 to 4096 bits or of a curve of NIST,
// its area is read to the last byte, and its name is computed and never believed.
//
// Which keys may sign a boot and which may be given a secret is in packages enrol and seal.
package tpmkey
