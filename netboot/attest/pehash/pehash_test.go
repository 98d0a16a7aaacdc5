package pehash_test

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"rackboot/netboot/attest/pehash"
	"rackboot/protocol"
)

func authenticode(raw []byte) ([]byte, error) {
	return pehash.Authenticode(bytes.NewReader(raw), int64(len(raw)), crypto.SHA256)
}

func sum(parts ...[]byte) []byte {
	s := sha256.Sum256(slices.Concat(parts...))
	return s[:]
}

// The hash is of all but the checksum, the certificate table and its entry, in the order of the file.
func TestAuthenticode(t *testing.T) {
	text, data := part{name: ".text", data: bytes.Repeat([]byte("text"), 100)}, part{name: ".data", data: []byte("data")}
	certificates := bytes.Repeat([]byte("c"), 64)
	for _, plus := range []bool{true, false} {
		signed := image(plus, certificates, text, part{name: ".bss", virtual: 4096}, data)
		got, err := authenticode(signed)
		if err != nil || !bytes.Equal(got, sum(hashed(signed, plus, len(certificates)))) {
			t.Fatalf("PE32+ %v: %x, %v", plus, got, err)
		}
		unsigned := image(plus, nil, text, part{name: ".bss", virtual: 4096}, data)
		for name, raw := range map[string][]byte{
			"not signed":           unsigned,
			"another checksum":     edit(signed, optionalAt+64, 1, 2, 3, 4),
			"another certificate":  edit(signed, len(signed)-10, 'x'),
			"more of certificates": image(plus, bytes.Repeat(certificates, 3), text, part{name: ".bss", virtual: 4096}, data),
		} {
			if again, err := authenticode(raw); err != nil || !bytes.Equal(again, got) {
				t.Errorf("PE32+ %v, %s: %x, %v", plus, name, again, err)
			}
		}
		for at := range len(unsigned) {
			if inField := at >= optionalAt+64 && at < optionalAt+68; inField {
				continue
			}
			if again, err := authenticode(edit(unsigned, at, unsigned[at]^1)); err == nil && bytes.Equal(again, got) && !inEntry(plus, at) {
				t.Errorf("PE32+ %v: byte %d is in no hash", plus, at)
			}
		}
		if again, err := authenticode(append(slices.Clone(unsigned), "behind"...)); err != nil || !bytes.Equal(again, sum(hashed(unsigned, plus, 0), []byte("behind"))) {
			t.Errorf("PE32+ %v, something behind the sections: %x, %v", plus, again, err)
		}
	}
}

// inEntry is whether a byte is in the entry of the certificate table.
func inEntry(plus bool, at int) bool {
	entry := optionalAt + 108 + 4 + 4*8
	if !plus {
		entry = optionalAt + 92 + 4 + 4*8
	}
	return at >= entry && at < entry+8
}

func edit(raw []byte, at int, b ...byte) []byte {
	out := slices.Clone(raw)
	copy(out[at:], b)
	return out
}

// Images that are cut, or say what cannot be, are refused; so are those of which more is to be
// hashed than there is.
func TestRefuses(t *testing.T) {
	good := image(true, []byte("cert"), part{name: ".text", data: make([]byte, 100)}, part{name: ".data", data: make([]byte, 100)})
	const table = optionalAt + plusSize
	number := func(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"nothing":                           {nil, "is no PE image"},
		"a script":                          {[]byte("#!/bin/sh" + strings.Repeat(" ", 100)), "is no PE image"},
		"a DOS program":                     {edit(good, peAt, 'X'), "no PE header"},
		"its PE header is far away":         {edit(good, 0x3c, 0xff, 0xff, 0xff, 0xff), "no PE header"},
		"thousands of sections":             {edit(good, peAt+6, 0xff, 0xff), "65535 sections"},
		"more sections than bytes":          {edit(good, peAt+6, 96), "section table beyond"},
		"no optional header":                {edit(good, peAt+20, 10, 0), "optional header of 10 bytes"},
		"another optional header":           {edit(good, optionalAt, 7), "neither PE32"},
		"headers longer than the file":      {edit(good, optionalAt+60, number(1<<30)...), "headers of 1073741824 bytes"},
		"headers shorter than they are":     {edit(good, optionalAt+60, number(100)...), "headers of 100 bytes"},
		"directories beyond the header":     {edit(edit(good, peAt+20, 120, 0), optionalAt+60, number(500)...), "directories beyond"},
		"a section beyond the end":          {edit(good, table+20, number(1<<31)...), "is cut off"},
		"a section longer than the file":    {edit(good, table+16, number(0xffffffff)...), "is cut off"},
		"sections on top of each other":     {edit(good, table+16, number(190)...), "headers, sections and certificates of"},
		"certificates longer than the file": {edit(good, optionalAt+108+4+4*8+4, number(1<<20)...), "headers, sections and certificates of"},
		"cut":                               {good[:len(good)-2], "certificates of"},
	} {
		var e *protocol.Error
		if _, err := authenticode(c.raw); !errors.As(err, &e) || e.Code != protocol.CodeInvalid || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := pehash.Authenticode(failing{}, 1<<20, crypto.SHA256); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a disk that fails: %v", err)
	}
	short := bytes.NewReader(good)
	if _, err := pehash.Authenticode(short, int64(len(good))+1<<20, crypto.SHA256); !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		t.Errorf("a file that became shorter: %v", err)
	}
}

type failing struct{}

func (failing) ReadAt([]byte, int64) (int, error) { return 0, io.ErrClosedPipe }

// Sections are measured in the stub's order, as they are in memory, and by what its version measures.
func TestUnified(t *testing.T) {
	initrd, linux := part{name: ".initrd", data: []byte("an initrd")}, part{name: ".linux", data: []byte("a kernel, padded\x00\x00\x00\x00"), virtual: 16}
	sbat, uname := part{name: ".sbat", data: []byte("sbat,1")}, part{name: ".uname", data: []byte("6.1")}
	bss := part{name: ".osrel", data: []byte("ID"), virtual: 8}
	pcrsig := part{name: ".pcrsig", data: []byte("{}")}
	for _, c := range []struct {
		name  string
		parts []part
		want  []string // names and what is measured
		err   protocol.Code
	}{
		{"as 252 does", []part{stub("252.39-1~deb12u1"), sbat, initrd, linux, uname, pcrsig}, []string{".linux", "a kernel, padded", ".initrd", "an initrd"}, ""},
		{"as 253 does", []part{stub("253"), sbat, initrd, linux, uname, pcrsig}, []string{".linux", "a kernel, padded", ".initrd", "an initrd", ".uname", "6.1", ".sbat", "sbat,1"}, ""},
		{"zeros in memory", []part{stub("255.4"), linux, bss}, []string{".linux", "a kernel, padded", ".osrel", "ID\x00\x00\x00\x00\x00\x00"}, ""},
		{"a section that is empty in memory", []part{stub("255"), linux, {name: ".cmdline"}}, []string{".linux", "a kernel, padded"}, ""},
		{"no stub", []part{linux, initrd}, nil, protocol.CodeUnsupported},
		{"an older stub", []part{stub("251.4"), linux}, nil, protocol.CodeUnsupported},
		{"a stub of nobody's", []part{{name: ".sdmagic", data: []byte("#### LoaderInfo: another 300 ####")}, linux}, nil, protocol.CodeUnsupported},
		{"a version without end", []part{stub(strings.Repeat("9", 1000)), linux}, []string{".linux", "a kernel, padded"}, ""},
		{"profiles", []part{stub("257"), linux, {name: ".profile", data: []byte("a")}}, nil, protocol.CodeUnsupported},
		{"a section twice", []part{stub("257"), linux, initrd, initrd}, nil, protocol.CodeUnsupported},
		{"no kernel", []part{stub("257"), initrd}, nil, protocol.CodeInvalid},
		{"a gigabyte of zeros", []part{stub("257"), {name: ".linux", data: []byte("k"), virtual: 1 << 30}}, nil, protocol.CodeInvalid},
	} {
		raw := image(true, nil, c.parts...)
		got, err := pehash.Unified(bytes.NewReader(raw), int64(len(raw)), crypto.SHA256)
		var e *protocol.Error
		if errors.As(err, &e) != (c.err != "") || e != nil && e.Code != c.err {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var want []pehash.Measured
		for i := 0; i < len(c.want); i += 2 {
			want = append(want, pehash.Measured{Name: c.want[i], NameDigest: sum([]byte(c.want[i] + "\x00")), Digest: sum([]byte(c.want[i+1]))})
		}
		if !slices.EqualFunc(got, want, func(a, b pehash.Measured) bool {
			return a.Name == b.Name && bytes.Equal(a.NameDigest, b.NameDigest) && bytes.Equal(a.Digest, b.Digest)
		}) {
			t.Errorf("%s: %x, want %x", c.name, got, want)
		}
	}
}

// The kernel in an image has the hash that it has alone.
func TestKernel(t *testing.T) {
	kernel := image(true, []byte("signature"), part{name: ".text", data: []byte("kernel")})
	raw := image(true, nil, stub("252"), part{name: ".linux", data: append(slices.Clone(kernel), make([]byte, 100)...), virtual: len(kernel)})
	alone, err := authenticode(kernel)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := pehash.Kernel(bytes.NewReader(raw), int64(len(raw)), crypto.SHA256); err != nil || !bytes.Equal(got, alone) {
		t.Errorf("%x, %v, want %x", got, err, alone)
	}
	if _, err := pehash.Kernel(bytes.NewReader(kernel), int64(len(kernel)), crypto.SHA256); err == nil {
		t.Error("a kernel has a kernel")
	}
}

// FuzzImage: no file makes it fail, or read more than twice what there is.
func FuzzImage(f *testing.F) {
	f.Add(image(true, []byte("certificates"), stub("252"), part{name: ".linux", data: []byte("kernel")}, part{name: ".initrd", data: []byte("initrd")}))
	f.Add(image(false, nil, part{name: ".text", data: []byte("text")}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := &counting{Reader: bytes.NewReader(raw)}
		size := int64(len(raw))
		hash, err := pehash.Authenticode(r, size, crypto.SHA256)
		if err == nil && len(hash) != sha256.Size {
			t.Errorf("%x", hash)
		}
		if r.read > 2*size {
			t.Errorf("%d bytes of %d were read", r.read, size)
		}
		r.read = 0
		_, _ = pehash.Unified(r, size, crypto.SHA256)
		if r.read > 3*size {
			t.Errorf("%d bytes of %d were read for sections", r.read, size)
		}
		_, _ = pehash.Kernel(r, size, crypto.SHA256)
	})
}
