package pehash

import (
	"bytes"
	"crypto"
	"io"
	"slices"

	"rackboot/protocol"
)

// Measured is a section of a unified kernel image as systemd-stub measures it: first the
// name with a NUL, then the data.
type Measured struct {
	Name       string // ".linux"
	NameDigest []byte
	Digest     []byte
}

// measuredSections is the order in which systemd-stub measures the sections that there are
// (systemd, src/fundamental/uki.h, "the canonical order"). .pcrsig is not measured: it signs
// what comes of this.
var measuredSections = []string{
	".linux", ".osrel", ".cmdline", ".initrd", ".ucode", ".splash", ".dtb", ".uname", ".sbat", ".pcrpkey", ".profile", ".dtbauto", ".hwids", ".efifw",
}

// stubSection names the section in which a stub says which one it is.
const (
	stubSection = ".sdmagic"
	stubMark    = "#### LoaderInfo: systemd-stub "
	maxStubText = 256
)

// notMeasuredBefore are the first versions of systemd whose stub measures a section.
// Those that are not here were measured from the first one that measures at all, 252.
var notMeasuredBefore = map[string]int{".uname": 253, ".sbat": 253, ".ucode": 256, ".profile": 257, ".dtbauto": 257, ".hwids": 257, ".efifw": 258}

// firstMeasuring is the first systemd whose stub measures sections.
const firstMeasuring = 252

// Unified returns what the stub of a unified kernel image of size bytes extends PCR 11 by,
// in its order. The error has the code unsupported for an image whose stub is not systemd's, is
// older than 252, or has to choose among profiles, and invalid for what is no image.
func Unified(r io.ReaderAt, size int64, h crypto.Hash) ([]Measured, error) {
	const op = "hash image"
	head, err := readHeaders(r, size)
	if err != nil {
		return nil, err
	}
	version, err := head.stubVersion(r)
	if err != nil {
		return nil, err
	}
	if version < firstMeasuring {
		return nil, protocol.Errorf(protocol.CodeUnsupported, op, "the image has no stub of systemd 252 or newer, which measures its sections; build it with one")
	}
	var out []Measured
	for _, name := range measuredSections {
		if version < notMeasuredBefore[name] {
			continue
		}
		of := slices.DeleteFunc(slices.Clone(head.sections), func(s section) bool { return s.name != name || s.virtualSize == 0 })
		switch {
		case len(of) == 0:
			continue
		case len(of) > 1 || name == ".profile" || name == ".dtbauto":
			return nil, protocol.Errorf(protocol.CodeUnsupported, op, "the image has several sections %s or profiles, of which its stub chooses on the machine; build it without", name)
		}
		sum := h.New()
		sum.Write(append([]byte(name), 0))
		m := Measured{Name: name, NameDigest: sum.Sum(nil)}
		sum.Reset()
		if err := of[0].hashMemory(sum, r); err != nil {
			return nil, err
		}
		m.Digest = sum.Sum(nil)
		out = append(out, m)
	}
	if len(out) == 0 || out[0].Name != ".linux" {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the image is no unified kernel image: it has no section .linux")
	}
	return out, nil
}

// maxZeros bounds what a section has in memory beyond the file.
const maxZeros = 1 << 20

// hashMemory hashes a section as it is in memory, which is what the stub measures: the data
// of the file is cut to the virtual size, or zeros follow it.
func (s section) hashMemory(sum io.Writer, r io.ReaderAt) error {
	n := min(s.virtualSize, s.length)
	if _, err := io.Copy(sum, io.NewSectionReader(r, s.offset, n)); err != nil {
		return err
	}
	zeros := s.virtualSize - n
	if zeros > maxZeros {
		return protocol.Errorf(protocol.CodeInvalid, "hash image", "section %q of the image has %d bytes in the file and %d in memory", s.name, s.length, s.virtualSize)
	}
	_, err := sum.Write(make([]byte, zeros))
	return err
}

// stubVersion is the version of systemd that the stub is of; 0 where no stub says one.
func (h *headers) stubVersion(r io.ReaderAt) (int, error) {
	i := slices.IndexFunc(h.sections, func(s section) bool { return s.name == stubSection })
	if i < 0 {
		return 0, nil
	}
	text := make([]byte, min(h.sections[i].length, maxStubText))
	if err := readFull(r, text, h.sections[i].offset); err != nil {
		return 0, err
	}
	_, rest, ok := bytes.Cut(text, []byte(stubMark))
	version := 0
	for _, c := range rest {
		if !ok || c < '0' || c > '9' || version > 1<<20 {
			break
		}
		version = version*10 + int(c-'0')
	}
	return version, nil
}

// Kernel returns the Authenticode hash of the kernel in a unified kernel image of size bytes, by which
// firmware extends PCR 4 when the stub has it load the kernel: systemd's does so from 252 on.
func Kernel(r io.ReaderAt, size int64, h crypto.Hash) ([]byte, error) {
	head, err := readHeaders(r, size)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(head.sections, func(s section) bool { return s.name == ".linux" })
	if i < 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, "hash image", "the image is no unified kernel image: it has no section .linux")
	}
	s := head.sections[i]
	n := min(s.virtualSize, s.length)
	return Authenticode(io.NewSectionReader(r, s.offset, n), n, h)
}
