package attest

import (
	"crypto"
	"io"

	"rackboot/netboot/attest/eventlog"
	"rackboot/netboot/attest/pehash"
)

// OfUnified is what a server is to have booted that firmware gave a unified kernel image of size bytes, and nothing else,
// in the bank of SHA-256; the nonce is the caller's. Errors are those of pehash.Unified, and of reading.
func OfUnified(r io.ReaderAt, size int64) (Expectation, error) {
	sections, err := pehash.Unified(r, size, crypto.SHA256)
	if err != nil {
		return Expectation{}, err
	}
	image, err := pehash.Authenticode(r, size, crypto.SHA256)
	if err != nil {
		return Expectation{}, err
	}
	kernel, err := pehash.Kernel(r, size, crypto.SHA256)
	if err != nil {
		return Expectation{}, err
	}
	return Expectation{
		Bank: eventlog.SHA256, Sections: sections,
		Images: []Item{{Name: "image", Digest: image}, {Name: "kernel", Digest: kernel, Optional: true}}, // not every stub has firmware load it
	}, nil
}
