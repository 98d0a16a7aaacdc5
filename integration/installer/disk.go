package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	sector = 512
	block  = 64 << 10
	// minDisk tells the disk from the simulated machine's blank boot device.
	minDisk = 16 << 20
)

// writeDisk unpacks the image onto the disk, syncs it and returns the disk and how
// much was written. Blocks of zeros are left out: the disk is a new one.
func writeDisk(from string) (disk string, written int64, err error) {
	if disk, err = findDisk("/sys/block"); err != nil {
		return "", 0, err
	}
	src, err := os.Open(from)
	if err != nil {
		return disk, 0, err
	}
	defer src.Close()
	unpacked, err := gzip.NewReader(src)
	if err != nil {
		return disk, 0, err
	}
	dst, err := os.OpenFile(disk, os.O_WRONLY, 0)
	if err != nil {
		return disk, 0, err
	}
	written, err = copySparse(dst, unpacked)
	return disk, written, errors.Join(err, dst.Sync(), dst.Close())
}

// findDisk returns the one disk that is large enough. Two are an error: what is on
// the other may be somebody's.
func findDisk(root string) (string, error) {
	sizes, err := filepath.Glob(filepath.Join(root, "vd*", "size"))
	if err != nil {
		return "", err
	}
	var found []string
	for _, path := range sizes {
		raw, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		sectors, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
		if err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		if sectors*sector >= minDisk {
			found = append(found, filepath.Join("/dev", filepath.Base(filepath.Dir(path))))
		}
	}
	if len(found) != 1 {
		return "", fmt.Errorf("one disk of at least %d bytes is needed, there are %q", minDisk, found)
	}
	return found[0], nil
}

// copySparse copies all but blocks of zeros, and returns the bytes that it wrote.
func copySparse(to io.WriterAt, from io.Reader) (written int64, err error) {
	buf, zero := make([]byte, block), make([]byte, block)
	for offset := int64(0); err == nil; {
		// Not io.ReadFull: it could not tell the image's end from a truncated image.
		n := 0
		for n < len(buf) && err == nil {
			var k int
			k, err = from.Read(buf[n:])
			n += k
		}
		if !bytes.Equal(buf[:n], zero[:n]) {
			if _, err := to.WriteAt(buf[:n], offset); err != nil {
				return written, err
			}
			written += int64(n)
		}
		offset += int64(n)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return written, err
}
