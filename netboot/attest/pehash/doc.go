// Package pehash computes what firmware and systemd-stub measure of a PE image before it
// runs: the Authenticode hash, which EDK2 extends PCR 4 by, and the sections of a unified
// kernel image, which the stub extends PCR 11 by. So it is known of an image, before any
// server boots it, what a TPM will say of it.
//
// The Authenticode hash is not that of the file: it leaves out the checksum, the entry of
// the certificate table and the table itself, so that signing an image does not change it.
//
// Images are read by random access, in pieces, as hostile input; an image is hashed
// once, however its sections overlap. Functions are safe to call at once.
package pehash
