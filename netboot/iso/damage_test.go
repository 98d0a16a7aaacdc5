package iso_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"rackboot/netboot/iso"
	"rackboot/netboot/iso/isotest"
	"rackboot/protocol"
)

// at changes bytes of every record.
func at(off int, b ...byte) func([]byte) {
	return func(r []byte) { copy(r[off:], b) }
}

func two(v uint32) []byte {
	b := binary.LittleEndian.AppendUint32(nil, v)
	return binary.BigEndian.AppendUint32(b, v)
}

func use(signature string, data ...byte) []byte {
	return append([]byte{signature[0], signature[1], byte(4 + len(data)), 1}, data...)
}

func ce(block, offset, size uint32) []byte {
	return use("CE", bytes.Join([][]byte{two(block), two(offset), two(size)}, nil)...)
}

// rootAt is the block of the root folder.
func rootAt(img []byte) uint32 { return binary.LittleEndian.Uint32(img[16*isotest.Sector+158:]) }

// TestRefusedFiles: what of an image cannot be read is refused, the rest of it is read.
func TestRefusedFiles(t *testing.T) {
	for _, row := range []struct {
		name string
		bad  isotest.Entry // with the path "bad", or a file below it
		want string        // in the error of opening it; empty if it is read
		code protocol.Code
	}{
		{"a file in one piece", isotest.Entry{}, "", ""},
		{"interleaved by unit (ECMA-119 6.4.3)", isotest.Entry{Change: at(26, 1)}, "interleaved", protocol.CodeUnsupported},
		{"interleaved by gap", isotest.Entry{Change: at(27, 1)}, "interleaved", protocol.CodeUnsupported},
		{"zisofs", isotest.Entry{Use: use("ZF", append([]byte("pz\x04\x0f"), two(9)...)...)}, "compressed", protocol.CodeUnsupported},
		{"sparse (RRIP 4.1.7)", isotest.Entry{Use: use("SF", make([]byte, 17)...)}, "sparse", protocol.CodeUnsupported},
		{"a device", isotest.Entry{Mode: 0o060600}, "device", protocol.CodeUnsupported},
		{"a pipe", isotest.Entry{Mode: 0o010600}, "device", protocol.CodeUnsupported},
		{"a link of no target", isotest.Entry{Mode: 0o120777}, "device", protocol.CodeUnsupported},
		{"cut off", isotest.Entry{Sections: []isotest.Section{{Block: 30, Size: 2048}, {Block: 1000, Size: 10}}}, "it ends at byte", protocol.CodeInvalid},
		{"cut off far away", isotest.Entry{Sections: []isotest.Section{{Block: 0xffffffff, Size: 0xffffffff}}}, "should go on to byte 8800387987455", protocol.CodeInvalid},
		{"of no last section", isotest.Entry{Change: at(25, 0x80)}, "last section", protocol.CodeInvalid},
		{"wrong big-endian halves, as in Linux", isotest.Entry{Change: func(r []byte) { r[6] ^= 0xff; r[14] ^= 0xff }}, "", ""},
		{"of another volume of a set, as in Linux", isotest.Entry{Change: at(28, 2)}, "", ""},
		{"hidden, as in Linux", isotest.Entry{Change: at(25, 1)}, "", ""},
		{"with extended attributes before it (ECMA-119 9.1.2)", isotest.Entry{
			Content: append(bytes.Repeat([]byte("x"), isotest.Sector), "bad"...), Change: func(r []byte) { r[1] = 1; copy(r[10:], two(3)) },
		}, "", ""},
		{"a name in no UTF-8 is another's", isotest.Entry{Use: use("NM", 0, 0xff)}, "", ""},
		{"an entry of a wrong length", isotest.Entry{Use: []byte{'X', 'X', 3, 1, 0, 0}}, "", ""},
		{"an entry beyond the record", isotest.Entry{Use: []byte{'X', 'X', 200, 1, 0, 0}}, "", ""},
		{"the end of the entries", isotest.Entry{Use: append(use("ST"), use("ZF", append([]byte("pz\x04\x0f"), two(9)...)...)...)}, "", ""},
	} {
		row.bad.Path = "dir/bad"
		if row.bad.Content == nil && row.bad.Sections == nil {
			row.bad.Content = []byte("bad")
		}
		v := open(t, isotest.Tree{RockRidge: true, Entries: []isotest.Entry{{Path: "dir/good", Content: []byte("good")}, row.bad}}.Bytes())
		if got, err := fs.ReadFile(v, "dir/good"); err != nil || string(got) != "good" {
			t.Errorf("%s: beside it %q, %v", row.name, got, err)
		}
		name := "dir/bad"
		if strings.HasPrefix(row.name, "a name") {
			name += "\uFFFD"
		}
		got, err := fs.ReadFile(v, name)
		if row.want == "" && (err != nil || string(got) != "bad") || row.want != "" && (protocol.CodeOf(err) != row.code || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
}

// TestRefusedFolders: a damaged folder is refused with where it is, others are read.
func TestRefusedFolders(t *testing.T) {
	away := func(data ...byte) isotest.Entry { return isotest.Entry{Path: "bad", Use: use("CL", data...)} }
	for _, row := range []struct {
		name string
		bad  isotest.Entry
		path string
		want string
	}{
		{"of many bytes", isotest.Entry{Path: "bad", Dir: true, Change: at(13, 1)}, "bad", "at most 16777216 are read"},
		{"beyond the end", isotest.Entry{Path: "bad", Dir: true, Change: at(4, 1)}, "bad", "it ends at byte"},
		{"that contains itself", isotest.Entry{Path: "bad", Dir: true, Change: func(r []byte) { copy(r[2:], two(20)); copy(r[10:], two(2048)) }}, "bad/bad/bad", "contains itself"},
		{"moved to nowhere", away(two(0xffffffff)...), "bad", "it ends at byte"},
		{"moved to what is none", away(two(16)...), "bad", "there is no folder"},
		{"moved, in short", away(1, 2), "bad", "not a folder"},
		{"a system use area that goes on for ever", isotest.Entry{Path: "bad/x", Use: ce(99, 0, 28)}, "bad", "more than 32 times"},
		{"a system use area that goes on far away", isotest.Entry{Path: "bad/x", Use: ce(0xffffffff, 0, 10)}, "bad", "it ends at byte"},
		{"a system use area of many bytes", isotest.Entry{Path: "bad/x", Use: ce(0, 0, 1<<31)}, "bad", "goes on for 2147483648 bytes"},
		{"a name of no bytes", isotest.Entry{Path: "bad/x", Change: at(32, 0)}, "bad", "is damaged at byte"},
		{"a name beyond its record", isotest.Entry{Path: "bad/x", Change: at(32, 250)}, "bad", "is damaged at byte"},
		{"a file of many sections", isotest.Entry{Path: "bad/x", Sections: make([]isotest.Section, 1025)}, "bad", "more than 1024 sections"},
	} {
		img := isotest.Tree{RockRidge: true, Entries: []isotest.Entry{{Path: "good/good", Content: []byte("good")}, row.bad}}.Bytes()
		img = append(img, make([]byte, 100*isotest.Sector-len(img)%(100*isotest.Sector))...)
		copy(img[99*isotest.Sector:], ce(99, 0, 28)) // goes on where it is
		if strings.Contains(row.name, "itself") {
			copy(img[20*isotest.Sector:], img[rootAt(img)*isotest.Sector:][:isotest.Sector])
		}
		v := open(t, img)
		if got, err := fs.ReadFile(v, "good/good"); err != nil || string(got) != "good" {
			t.Errorf("%s: beside it %q, %v", row.name, got, err)
		}
		_, err := v.ReadDir(row.path)
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
}

// TestRefusedImages: what is no image to be read is refused at once.
func TestRefusedImages(t *testing.T) {
	whole := tree(true, true).Bytes()
	with := func(change func(img []byte)) []byte {
		img := bytes.Clone(whole)
		change(img)
		return img
	}
	says := int(binary.LittleEndian.Uint32(whole[16*isotest.Sector+80:])) * isotest.Sector
	raw := func(size, offset int) []byte {
		out := make([]byte, size*len(whole)/isotest.Sector)
		for i := range len(whole) / isotest.Sector {
			copy(out[i*size+offset:], whole[i*isotest.Sector:][:isotest.Sector])
		}
		return out
	}
	windows := isotest.Tree{Entries: []isotest.Entry{{Path: "readme.txt", Content: []byte("This disc contains a UDF file system")}}}.Bytes()
	copy(windows[18*isotest.Sector:], "\x00BEA01\x01")
	copy(windows[19*isotest.Sector:], "\x00NSR02\x01")
	bridge := bytes.Clone(whole)
	copy(bridge[19*isotest.Sector:], "\x00NSR02\x01") // other files are not only in UDF
	for _, row := range []struct {
		name string
		img  []byte
		want string
		code protocol.Code
	}{
		{"nothing", nil, "it ends before byte", protocol.CodeInvalid},
		{"no image", bytes.Repeat([]byte("x"), 100<<10), "no volume descriptor", protocol.CodeInvalid},
		{"raw, mode 2", raw(2336, 8), "raw CD sectors of 2336 bytes", protocol.CodeUnsupported},
		{"raw, mode 1 with sync", raw(2352, 16), "raw CD sectors of 2352 bytes", protocol.CodeUnsupported},
		{"raw, mode 2 with sync", raw(2352, 24), "raw CD sectors of 2352 bytes", protocol.CodeUnsupported},
		{"only UDF", windows, "UDF", protocol.CodeUnsupported},
		{"UDF besides", bridge, "", ""},
		{"a descriptor of ISO 9660:1999, of version 2", with(func(img []byte) { img[17*isotest.Sector+6] = 2; clear(img[17*isotest.Sector+88:][:3]) }), "", ""},
		{"blocks of 4096", with(func(img []byte) { img[16*isotest.Sector+129] = 16 }), "blocks have 4096 bytes", protocol.CodeInvalid},
		{"a root that is a file", with(func(img []byte) { img[16*isotest.Sector+156+25] = 0 }), "root is no folder", protocol.CodeInvalid},
		{"cut in its descriptors", whole[:17*isotest.Sector], "it ends before byte 36864", protocol.CodeInvalid},
		{"cut in its last file", whole[:says-isotest.Sector], fmt.Sprintf("it ends at byte %d, and should go on to byte %d", says-isotest.Sector, says), protocol.CodeInvalid},
		{"longer than it says, as with padding", append(bytes.Clone(whole), make([]byte, 300<<10)...), "", ""},
		{"cut before its root", whole[:20*isotest.Sector], "it ends at byte 40960", protocol.CodeInvalid},
		{"big-endian halves wrong, as in Linux", with(func(img []byte) { clear(img[16*isotest.Sector+156+6:][:4]); clear(img[16*isotest.Sector+130:][:2]) }), "", ""},
	} {
		_, err := iso.OpenFS(bytes.NewReader(row.img), int64(len(row.img)))
		if row.want == "" && err != nil || row.want != "" && (protocol.CodeOf(err) != row.code || !strings.Contains(err.Error(), row.want) || protocol.HintOf(err) == "") {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
}

// TestBlocks: extents are counted in logical blocks, of 2048 bytes or of less (ECMA-119 6.2.2).
func TestBlocks(t *testing.T) {
	img := isotest.Tree{Entries: []isotest.Entry{{Path: "F", Content: []byte("x"), Change: func(r []byte) {
		copy(r[2:], two(4*binary.LittleEndian.Uint32(r[2:])))
	}}}}.Bytes()
	d := img[16*isotest.Sector:]
	copy(d[128:], []byte{0, 2, 2, 0})
	root := rootAt(img)
	copy(d[158:], two(4*root))
	if got, err := fs.ReadFile(open(t, img), "F"); err != nil || string(got) != "x" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestContinued: what the records of one folder go on with is bounded together.
func TestContinued(t *testing.T) {
	made := isotest.Tree{RockRidge: true}
	for i := range 17 << 20 / (32 << 10) {
		made.Entries = append(made.Entries, isotest.Entry{Path: fmt.Sprintf("d/%03d", i), Use: ce(0, 0, 32<<10)})
	}
	if _, err := open(t, made.Bytes()).ReadDir("d"); err == nil || !strings.Contains(err.Error(), "all of a folder are too large") {
		t.Error(err)
	}
}

// TestDepth: folders are bounded in depth, and a path of a damaged image ends.
func TestDepth(t *testing.T) {
	deep := func(n int) string { return strings.TrimSuffix(strings.Repeat("d/", n), "/") }
	v := open(t, isotest.Tree{RockRidge: true, Entries: []isotest.Entry{{Path: deep(200) + "/f"}}}.Bytes())
	if _, err := v.Stat(deep(128)); err != nil {
		t.Error(err)
	}
	if _, err := v.Stat(deep(129)); err == nil || !strings.Contains(err.Error(), "more than 128 deep") {
		t.Error(err)
	}
}

// TestEntries: a folder of more entries than any has is refused, with bounded memory.
func TestEntries(t *testing.T) {
	const many = 1<<16 + 1
	img := isotest.Tree{RockRidge: true, Entries: []isotest.Entry{{Path: "many", Dir: true}}}.Bytes()
	// Its records are made by hand: a builder that has that many is slow.
	at := len(img) / isotest.Sector
	var out []byte
	for i := range many {
		name := fmt.Sprintf("%07d.;1", i)
		r := make([]byte, (33+len(name)+1)&^1)
		r[0], r[32] = byte(len(r)), byte(len(name))
		copy(r[33:], name)
		if len(out)%isotest.Sector+len(r) > isotest.Sector {
			out = append(out, make([]byte, isotest.Sector-len(out)%isotest.Sector)...)
		}
		out = append(out, r...)
	}
	img = append(img, out...)
	i := bytes.Index(img[rootAt(img)*isotest.Sector:], []byte("MANY")) + int(rootAt(img))*isotest.Sector - 33
	copy(img[i+2:], two(uint32(at)))
	copy(img[i+10:], two(uint32(len(out))))
	if _, err := open(t, img).ReadDir("many"); err == nil || !strings.Contains(err.Error(), "more than 65536 entries") {
		t.Error(err)
	}
	var path *fs.PathError
	if _, err := open(t, img).Open("many/x"); !errors.As(err, &path) || path.Path != "many/x" {
		t.Error(err)
	}
}
