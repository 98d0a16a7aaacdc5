// Package chip speaks with the TPM of the machine that it runs on, for what package enrol asks: the
// public keys, and the answer to a challenge; and for what package attest verifies: quotes. It keeps nothing in the TPM: both keys are primary
// keys, which are made again from the TPM's seed each time.
package chip
