package iso_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"rackboot/netboot/iso"
	"rackboot/netboot/iso/isotest"
)

func then() time.Time { return time.Date(2024, 2, 29, 23, 59, 58, 0, time.FixedZone("", 5*3600+45*60)) }

// tree is what the tests read, with each feature that has no test of its own.
func tree(rock, joliet bool) isotest.Tree {
	t := isotest.Tree{Label: "TREE", RockRidge: rock, Joliet: joliet, Entries: []isotest.Entry{
		{Path: "install.amd/vmlinuz", Content: bytes.Repeat([]byte("kernel "), 1000), Time: then(), Mode: 0o100755},
		{Path: "install.amd/initrd.gz", Content: []byte("initrd")},
		{Path: "EFI/boot/grub.cfg", Content: nil},
		{Path: "empty folder", Dir: true},
		{Path: longName(), Content: []byte("long")},
		{Path: "another " + longName(), Content: []byte("long too")},
	}}
	for i := range 100 { // more than a sector
		t.Entries = append(t.Entries, isotest.Entry{Path: fmt.Sprintf("pool/%03d.deb", i), Content: fmt.Append(nil, i)})
	}
	if rock {
		t.Entries = append(t.Entries,
			isotest.Entry{Path: "debian", Link: "."},
			isotest.Entry{Path: "EFI/kernel", Link: "../install.amd/./vmlinuz"},
			isotest.Entry{Path: "EFI/long", Link: "../" + longName()},
			isotest.Entry{Path: "a/b/c/d/e/f/g/deep", Away: true},
			isotest.Entry{Path: "a/b/c/d/e/f/g/deep/deeper/file", Content: []byte("deep")},
		)
	}
	return t
}

func longName() string { return "a long name " + strings.Repeat("0123456789", 22) + ".txt" }

func open(t *testing.T, img []byte) *iso.FS {
	t.Helper()
	v, err := iso.OpenFS(bytes.NewReader(img), int64(len(img)))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestFS: the standard library's test of file systems on each kind of image.
func TestFS(t *testing.T) {
	for _, row := range []struct {
		name         string
		rock, joliet bool
		want         []string
	}{
		{"Rock Ridge", true, false, []string{"install.amd/vmlinuz", longName(), "debian", "EFI/long", "a/b/c/d/e/f/g/deep/deeper/file", "empty folder"}},
		{"Joliet", false, true, []string{"install.amd/vmlinuz", longName()[:64], "empty folder"}},
		{"both", true, true, []string{"install.amd/vmlinuz", longName(), "another " + longName(), "a/b/c/d/e/f/g/deep/deeper/file"}},
		{"neither", false, false, []string{"INSTALL/VMLINUZ", "INSTALL/INITRD.GZ", "EFI/BOOT/GRUB.CFG", "POOL/099.DEB"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			v := open(t, tree(row.rock, row.joliet).Bytes())
			if err := fstest.TestFS(v, row.want...); err != nil {
				t.Error(err)
			}
			if got, err := fs.ReadFile(v, row.want[0]); err != nil || !bytes.Equal(got, bytes.Repeat([]byte("kernel "), 1000)) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
}

// TestLookup: what is found by which name. Linux finds plain names and those of Joliet in
// any case of letters (fs/isofs, check=relaxed), and those of Rock Ridge as they are.
func TestLookup(t *testing.T) {
	for _, row := range []struct {
		rock, joliet bool
		name         string
		want         bool
	}{
		{true, true, "install.amd/vmlinuz", true},
		{true, true, "install.amd/VMLINUZ", false},
		{true, true, "INSTALL/VMLINUZ.;1", false},
		{false, true, "install.amd/vmlinuz", true},
		{false, true, "Install.AMD/vmlinuZ", true},
		{false, true, "install.amd/vmlinuz;1", false},
		{false, false, "install/vmlinuz", true},
		{false, false, "INSTALL/VMLINUZ", true},
		{false, false, "INSTALL/VMLINUZ.", false},
		{false, false, "INSTALL/VMLINUZ.;1", false},
		{true, true, "rr_moved/deep", false}, // RE: it is listed where it belongs (RRIP 4.1.5)
		{true, true, "rr_moved", true},
		{true, true, "install.amd/vmlinuz/x", false},
		{true, true, "debian/debian/install.amd/vmlinuz", true},
	} {
		v := open(t, tree(row.rock, row.joliet).Bytes())
		_, err := v.Stat(row.name)
		if row.want && err != nil || !row.want && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q of Rock Ridge %t, Joliet %t: %v", row.name, row.rock, row.joliet, err)
		}
	}
}

// TestAbout: modes (PX) and times (TF) are those of Rock Ridge, else those of the record,
// and what Linux has by default.
func TestAbout(t *testing.T) {
	for _, row := range []struct {
		rock bool
		name string
		mode fs.FileMode
		time time.Time
	}{
		{true, "install.amd/vmlinuz", 0o755, then()},
		{true, "install.amd/initrd.gz", 0o644, time.Time{}},
		{true, "install.amd", fs.ModeDir | 0o755, time.Time{}},
		{true, "debian", fs.ModeSymlink | 0o777, time.Time{}},
		{true, "debian/debian/install.amd/vmlinuz", 0o755, then()},
		{false, "install.amd/vmlinuz", 0o444, then()},
		{false, "install.amd", fs.ModeDir | 0o555, time.Time{}},
	} {
		v := open(t, tree(row.rock, true).Bytes())
		about, err := v.Lstat(row.name)
		if err != nil || about.Mode() != row.mode || !about.ModTime().Equal(row.time) {
			t.Errorf("%s: %v, %v", row.name, about, err)
		}
	}
}

// TestTimes are the forms of TF (RRIP 4.1.6).
func TestTimes(t *testing.T) {
	short := func(year byte) string { return string([]byte{year, 2, 29, 12, 30, 0, 4}) }
	want := time.Date(2024, 2, 29, 11, 30, 0, 0, time.UTC)
	for name, row := range map[string]struct {
		flags byte
		data  string
		want  time.Time
	}{
		"modified":               {0x02, short(124), want},
		"made and modified":      {0x03, short(99) + short(124), want},
		"made, as some write it": {0x01, short(124), want},
		"accessed only":          {0x04, short(124), time.Time{}},
		"long":                   {0x82, "2024022912300000\x04", want},
		"long, both":             {0x83, "1999022812300000\x04" + "2024022912300000\x04", want},
		"long, no time":          {0x82, "0000000000000000\x00", time.Time{}},
		"cut short":              {0x03, short(124), time.Time{}},
		"no month":               {0x02, "\x7c\x00\x00\x00\x00\x00\x00", time.Time{}},
	} {
		use := append([]byte{'T', 'F', byte(5 + len(row.data)), 1, row.flags}, row.data...)
		v := open(t, isotest.Tree{RockRidge: true, Entries: []isotest.Entry{{Path: "f", Use: use}}}.Bytes())
		about, err := v.Stat("f")
		if err != nil || !about.ModTime().Equal(row.want) {
			t.Errorf("%s: %v, %v", name, about.ModTime(), err)
		}
	}
}

// TestXA: what SUSP says begins after the bytes of CD-ROM XA (SUSP 5.3).
func TestXA(t *testing.T) {
	made := tree(true, true)
	made.XA = true
	if err := fstest.TestFS(open(t, made.Bytes()), "install.amd/vmlinuz", longName(), "a/b/c/d/e/f/g/deep/deeper/file"); err != nil {
		t.Error(err)
	}
}

// TestListed: what is no file of its own is not listed, and of several with one name the
// first counts, which is the newest version (ECMA-119 9.3).
func TestListed(t *testing.T) {
	name := func(s string) []byte { return use("NM", append([]byte{0}, s...)...) }
	v := open(t, isotest.Tree{Label: "L", RockRidge: true, Entries: []isotest.Entry{
		{Path: "associated", Change: at(25, 4)}, // a resource fork
		{Path: "a", Use: name("b"), Content: []byte("first")},
		{Path: "ab", Content: []byte("second")},
		{Path: "slash", Use: name("/x")},
		{Path: "zero", Use: name("\x00x")},
		{Path: "dots", Use: use("NM", 4, 'x')}, // PARENT: no name in it
		{Path: "two", Sections: []isotest.Section{{Block: 16, Size: 2048}, {Block: 17, Size: 1}}},
	}}.Bytes())
	list, err := v.ReadDir(".")
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	if want := []string{"ab", "dots", "slash_x", "two", "zero_x"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%q, %v", names, err)
	}
	dots := isotest.Tree{Entries: []isotest.Entry{{Path: "ab", Change: func(r []byte) { copy(r[33:], "...;1") }}, {Path: "c"}}}.Bytes()
	if list, err := open(t, dots).ReadDir("."); err != nil || len(list) != 1 || list[0].Name() != "C" {
		t.Errorf("%v, %v", list, err)
	}
	if got, err := fs.ReadFile(v, "ab"); err != nil || string(got) != "first" {
		t.Errorf("%q, %v", got, err)
	}
	if about, err := v.Stat("two"); err != nil || about.Size() != 2049 {
		t.Errorf("%v, %v", about, err)
	}
}
