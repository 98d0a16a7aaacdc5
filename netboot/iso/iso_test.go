package iso_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"rackboot/netboot/iso"
	"rackboot/netboot/iso/isotest"
	"rackboot/protocol"
)

func made() time.Time { return time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC) }

func TestWriteAndRead(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 3*isotest.Sector+1)
	files := []iso.File{{"report-url", []byte("http://10.7.0.1/b/t/\n")}, {"kernel-args", long}, {"ignition.json", nil}}
	img, err := iso.Write("RACKBOOT", files, made())
	if err != nil || len(img)%isotest.Sector != 0 {
		t.Fatalf("%d bytes, %v", len(img), err)
	}
	if again, _ := iso.Write("RACKBOOT", files, made()); !bytes.Equal(again, img) {
		t.Error("the same arguments gave other bytes")
	}
	v, err := iso.OpenFS(bytes.NewReader(img), int64(len(img)))
	if err != nil || v.Label() != "RACKBOOT" {
		t.Fatal(err)
	}
	for _, f := range files {
		if got, err := v.ReadSmall(f.Name); err != nil || !bytes.Equal(got, f.Content) {
			t.Errorf("%s: %d bytes, %v", f.Name, len(got), err)
		}
	}
	if _, err := v.ReadSmall("report_u"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	// Without Joliet the names are those of level 1 (ECMA-119 10.1).
	img[17*isotest.Sector] = 3
	v, err = iso.OpenFS(bytes.NewReader(img), int64(len(img)))
	if err != nil || v.Label() != "RACKBOOT" {
		t.Fatal(err)
	}
	for _, name := range []string{"REPORT_U", "KERNEL_A", "IGNITION.JSO", "ignition.jso"} {
		if _, err := v.ReadSmall(name); err != nil {
			t.Error(err)
		}
	}
}

// TestReadSmall: nothing large comes into memory by a name that a config image has.
func TestReadSmall(t *testing.T) {
	img := isotest.Tree{Entries: []isotest.Entry{
		{Path: "LARGE", Sections: []isotest.Section{{Block: 16, Size: 4<<20 + 1}}}, {Path: "FOLDER", Dir: true},
	}}.Bytes()
	v := open(t, append(img, make([]byte, 5<<20)...))
	for _, name := range []string{"LARGE", "FOLDER", "NOTHING"} {
		if got, err := v.ReadSmall(name); err == nil {
			t.Errorf("%s: %d bytes", name, len(got))
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	many := make([]iso.File, 16+1)
	for i := range many {
		many[i].Name = string(rune('a' + i))
	}
	for name, row := range map[string]struct {
		label string
		files []iso.File
	}{
		"no label":          {"", nil},
		"a long label":      {strings.Repeat("A", 17), nil},
		"a small letter":    {"Rackboot", nil},
		"no name":           {"A", []iso.File{{}}},
		"a folder":          {"A", []iso.File{{Name: "a/b"}}},
		"a long name":       {"A", []iso.File{{Name: strings.Repeat("a", 65)}}},
		"two short names":   {"A", []iso.File{{Name: "ignition-a"}, {Name: "ignition-b"}}},
		"too many":          {"A", many},
		"too long together": {"A", longNames()},
	} {
		if _, err := iso.Write(row.label, row.files, made()); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func longNames() (out []iso.File) {
	for i := range 16 {
		out = append(out, iso.File{Name: string(rune('a'+i)) + strings.Repeat("x", 64-1)})
	}
	return out
}

// beginning is a reader that has the first part of an image only.
type beginning []byte

func (b beginning) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > int64(len(b)) {
		return 0, iso.ErrBeyond
	}
	return copy(p, b[at:]), nil
}

func TestCheck(t *testing.T) {
	whole := isotest.New("BOOTX64.EFI").Bytes()
	with := func(change func(*isotest.Image)) []byte {
		i := isotest.New("BOOTX64.EFI")
		change(&i)
		return i.Bytes()
	}
	for _, row := range []struct {
		name, arch string
		r          io.ReaderAt
		want       string // in the error; empty passes
	}{
		{"amd64", "amd64", bytes.NewReader(whole), ""},
		{"arm64 of an image of amd64", "arm64", bytes.NewReader(whole), `\EFI\BOOT\BOOTAA64.EFI, and its EFI entry has BOOTX64.EFI`},
		{"arm64", "arm64", bytes.NewReader(isotest.New("BOOTAA64.EFI").Bytes()), ""},
		{"no loader", "amd64", bytes.NewReader(isotest.New("OTHER.EFI").Bytes()), "has OTHER.EFI there"},
		{"an EFI validation entry without sections", "amd64", bytes.NewReader(with(func(i *isotest.Image) {
			i.Validation(isotest.PlatformEFI)
			i.Entry(1, isotest.Bootable, isotest.FATAt)
			i.Catalogue[2*32] = 0
		})), ""},
		{"BIOS only", "amd64", bytes.NewReader(with(func(i *isotest.Image) { i.Catalogue[2*32+1] = 0 })), "no EFI entry"},
		{"an entry that is not bootable", "amd64", bytes.NewReader(with(func(i *isotest.Image) { i.Catalogue[3*32] = 0 })), "no EFI entry"},
		{"another file system", "amd64", bytes.NewReader(with(func(i *isotest.Image) { i.FAT[510] = 0 })), ""},
		{"no boot record", "amd64", bytes.NewReader(with(func(i *isotest.Image) { copy(i.Record[7:], "OTHER") })), "no El Torito"},
		{"a wrong checksum", "amd64", bytes.NewReader(with(func(i *isotest.Image) { i.Catalogue[28]++ })), "validation entry"},
		{"a UKI", "amd64", strings.NewReader("MZ" + strings.Repeat("x", 100<<10)), "no volume descriptor"},
		{"cut short", "amd64", bytes.NewReader(whole[:19*isotest.Sector]), "it ends before"},
		{"nothing", "amd64", bytes.NewReader(nil), "it ends before"},
		{"the catalogue is not known", "amd64", beginning(whole[:19*isotest.Sector]), ""},
		{"the file system is not known", "arm64", beginning(whole[:isotest.FATAt*isotest.Sector]), ""},
		{"no catalogue, of the beginning", "amd64", beginning(with(func(i *isotest.Image) { i.Record[0] = 0xff })[:19*isotest.Sector]), "no El Torito"},
	} {
		err := iso.Check(row.r, row.arch)
		switch {
		case row.want == "" && err != nil:
			t.Errorf("%s: %v", row.name, err)
		case row.want != "" && (protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), row.want)):
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
}

type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }

func TestCheckPassesErrorsOn(t *testing.T) {
	disk := errors.New("disk")
	if err := iso.Check(failing{disk}, "amd64"); !errors.Is(err, disk) {
		t.Error(err)
	}
	if _, err := iso.OpenFS(failing{disk}, 1<<30); !errors.Is(err, disk) {
		t.Error(err)
	}
}

// FuzzCheck: no image makes it panic or read without end, and what is refused has a code.
func FuzzCheck(f *testing.F) {
	f.Add(isotest.New("BOOTX64.EFI").Bytes()[16*isotest.Sector:], "amd64")
	f.Add(isotest.New("BOOTAA64.EFI").Bytes()[16*isotest.Sector:], "amd64")
	f.Add([]byte("CD001"), "")
	f.Fuzz(func(t *testing.T, tail []byte, arch string) {
		img := append(make([]byte, 16*isotest.Sector), tail...)
		if err := iso.Check(bytes.NewReader(img), arch); err != nil && protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Error(err)
		}
	})
}
