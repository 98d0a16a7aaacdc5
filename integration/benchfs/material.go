package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"rackboot/netboot/iso/isotest"
)

// What a folder of the bench has: the image, and the same files extracted.
const (
	imageName = "bench.iso"
	treeName  = "tree"
	largeName = "live/filesystem.squashfs"
)

// smallName is a small file, one of a hundred in its folder, as packages are.
func smallName(n int) string {
	return fmt.Sprintf("pool/main/%02d/package-%04d_1.0-1_amd64.deb", n/100, n)
}

// smallSize is between 1 and 64 KiB, and differs.
func smallSize(n int) int { return 1024 + n*7919%(63<<10) }

// content is of no repeating blocks, so that a file is not another's.
func content(seed, size int) []byte {
	out := make([]byte, 0, size+8)
	for x := uint64(seed)*2 + 1; len(out) < size; x = x*6364136223846793005 + 1442695040888963407 { //nolint:gosec // small
		out = binary.LittleEndian.AppendUint64(out, x)
	}
	return out[:size]
}

// write makes the image and the tree. Neither is sparse: zeros that are not on disk cost a
// server less than a file does.
func (p plan) write(dir string) error {
	made := isotest.Tree{Label: "BENCH", RockRidge: true, Joliet: true}
	for n := range p.files {
		c := content(n, smallSize(n))
		made.Entries = append(made.Entries, isotest.Entry{Path: smallName(n), Content: c})
		if err := put(filepath.Join(dir, treeName, smallName(n)), c, int64(len(c))); err != nil {
			return err
		}
	}
	block := content(p.files, 1<<20)
	if err := put(filepath.Join(dir, treeName, largeName), block, p.large); err != nil {
		return err
	}
	// The large file comes behind all others; where that is, a first try shows.
	large := isotest.Entry{Path: largeName, Sections: []isotest.Section{{Size: uint32(p.large)}}} //nolint:gosec // checked
	head := isotest.Tree{RockRidge: true, Joliet: true, Label: made.Label, Entries: append(made.Entries, large)}.Bytes()
	large.Sections[0].Block = uint32(len(head) / isotest.Sector) //nolint:gosec // an image of 4 GiB
	head = isotest.Tree{RockRidge: true, Joliet: true, Label: made.Label, Entries: append(made.Entries, large)}.Bytes()
	image, err := os.Create(filepath.Join(dir, imageName))
	if err != nil {
		return err
	}
	if _, err = image.Write(head); err == nil {
		err = repeat(image, block, p.large)
	}
	return errors.Join(err, image.Close())
}

// put writes a file of a block that repeats.
func put(name string, block []byte, size int64) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // servers that drop their rights read it
		return err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644) //nolint:gosec // likewise
	if err != nil {
		return err
	}
	return errors.Join(repeat(f, block, size), f.Close())
}

func repeat(f *os.File, block []byte, size int64) error {
	for left := size; left > 0; left -= int64(len(block)) {
		if _, err := f.Write(block[:min(left, int64(len(block)))]); err != nil {
			return err
		}
	}
	return nil
}

// expected is what a file of the bench has.
func expected(dir, name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(dir, treeName, name))
}

// same says how content differs from what is expected.
func same(name string, got, want []byte) error {
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%s: %d bytes of %d, or others", name, len(got), len(want))
	}
	return nil
}
