package pehash

import (
	"crypto"
	"hash"
	"io"
)

// Authenticode returns the hash of a PE image of size bytes as firmware measures it (EDK2,
// DxeTpm2MeasureBootLib and Tcg2Dxe, which follow Microsoft's "Windows Authenticode Portable
// Executable Signature Format"). The error has the code invalid for what is no image, and
// is the reader's otherwise.
func Authenticode(r io.ReaderAt, size int64, h crypto.Hash) ([]byte, error) {
	head, err := readHeaders(r, size)
	if err != nil {
		return nil, err
	}
	sum := h.New()
	raw := head.raw
	sum.Write(raw[:head.checksum])
	if after := head.checksum + checksumSize; head.directory == 0 {
		sum.Write(raw[after:])
	} else {
		sum.Write(raw[after:head.directory])
		sum.Write(raw[head.directory+directorySize:])
	}
	done := int64(len(raw))
	for _, s := range head.inFile() {
		if err := hashPart(sum, r, s.offset, s.length); err != nil {
			return nil, err
		}
		done += s.length
	}
	// What follows counts from the sum of what was hashed, not from the end of the last
	// section: EDK2 does so, and where there are gaps the two differ.
	if err := hashPart(sum, r, done, size-head.certificates-done); err != nil {
		return nil, err
	}
	return sum.Sum(nil), nil
}

// hashPart hashes a part of the image.
func hashPart(sum hash.Hash, r io.ReaderAt, offset, length int64) error {
	_, err := io.Copy(sum, io.NewSectionReader(r, offset, length))
	return err
}
