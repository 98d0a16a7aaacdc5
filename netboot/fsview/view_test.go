package fsview

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"rackboot/protocol"
)

const uuid = "4c4c4544-0042-3510-8052-b4c04f4e4d32"

// server is the view of a server that installs from an ISO, with what is rendered for it
// inside the ISO's tree: GRUB that a distribution signed looks for its files beside itself.
func server(t testing.TB) *View {
	t.Helper()
	root := memory(t, map[string]string{"ipxe.efi": "ipxe", "loaders/shimx64.efi": "shim", "machines/" + uuid + "/boot/linux": "of the folder"})
	iso := memory(t, map[string]string{"EFI/BOOT/BOOTX64.EFI": "shim of the ISO", "EFI/BOOT/grub.cfg": "of the ISO", "linux": "kernel", "isolinux/initrd.img": "initrd"})
	rendered := memory(t, map[string]string{
		"machines/" + uuid + "/boot/EFI/BOOT/grub.cfg": "rendered",
		"machines/" + uuid + "/seed":                   "preseed",
		"pxelinux.cfg/01-52-54-00-00-00-01":            "pxelinux",
	})
	return view(t,
		Mount{FS: root, Origin: "folder"},
		Mount{At: "mounts/isos/debian.iso", FS: iso, Origin: "ISO debian.iso", Fold: true},
		Mount{Links: Links{"machines/" + uuid + "/boot": "mounts/isos/debian.iso"}, Origin: "environment debian"},
		Mount{FS: rendered, Origin: "templates of debian"},
		Mount{Links: Links{"rpi/start4.elf": "machines/" + uuid + "/boot/linux"}, Origin: "templates of debian"},
	)
}

// TestView: seed 004, "machines/uuid/boot", "mounts/isos/IsoFile", and templates at their
// paths, also inside of the ISO's.
func TestView(t *testing.T) {
	v := server(t)
	boot := "machines/" + uuid + "/boot"
	for name, want := range map[string]string{
		"ipxe.efi":                                 "ipxe",
		"loaders/shimx64.efi":                      "shim",
		"mounts/isos/debian.iso/linux":             "kernel",
		"mounts/isos/debian.iso/EFI/BOOT/grub.cfg": "of the ISO",
		boot + "/linux":                            "kernel",
		boot + "/isolinux/initrd.img":              "initrd",
		boot + "/EFI/BOOT/BOOTX64.EFI":             "shim of the ISO",
		boot + "/EFI/BOOT/bootx64.efi":             "shim of the ISO",
		boot + "/efi/boot/bootx64.efi":             "shim of the ISO",
		boot + "/EFI/BOOT/grub.cfg":                "rendered",
		"machines/" + uuid + "/seed":               "preseed",
		"pxelinux.cfg/01-52-54-00-00-00-01":        "pxelinux",
		"rpi/start4.elf":                           "kernel",
	} {
		if got := text(t, v, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"IPXE.EFI", boot + "/nothing", boot + "/linux/x", "mounts/isos/fedora.iso", boot + "/grub.cfg-01-52-54-00-00-00-01"} {
		_, err := v.Open(name)
		wantCode(t, err, protocol.CodeNotFound)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
		_, err = v.Stat(name)
		wantCode(t, err, protocol.CodeNotFound)
	}
	if err := fstest.TestFS(v, boot+"/EFI/BOOT/grub.cfg", "ipxe.efi", "mounts/isos/debian.iso/linux", "rpi/start4.elf"); err != nil {
		t.Error(err)
	}
}

// names are the entries of a directory, with what they are.
func names(t testing.TB, fsys fs.FS, dir string) []string {
	t.Helper()
	list, err := fs.ReadDir(fsys, dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range list {
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		if e.Type() == fs.ModeSymlink {
			name += "@"
		}
		all = append(all, name)
	}
	return all
}

// TestMerge: directories of all mounts are one, sorted.
func TestMerge(t *testing.T) {
	v := server(t)
	boot := "machines/" + uuid + "/boot"
	for dir, want := range map[string][]string{
		".":                {"ipxe.efi", "loaders/", "machines/", "mounts/", "pxelinux.cfg/", "rpi/"},
		"mounts":           {"isos/"},
		"mounts/isos":      {"debian.iso/"},
		"machines":         {uuid + "/"},
		"machines/" + uuid: {"boot/", "seed"},
		boot:               {"EFI/", "isolinux/", "linux"},
		boot + "/EFI/BOOT": {"BOOTX64.EFI", "grub.cfg"},
		"rpi":              {"start4.elf"},
	} {
		if diff := cmp.Diff(want, names(t, v, dir)); diff != "" {
			t.Errorf("%s: %s", dir, diff)
		}
	}
	_, err := v.ReadDir("ipxe.efi")
	wantCode(t, err, protocol.CodeInvalid)
}

// TestNewRefuses has a row for everything that a view cannot be made of.
func TestNewRefuses(t *testing.T) {
	a := memory(t, map[string]string{"a": "file", "d/x": "1"})
	b := memory(t, map[string]string{"a/b": "2"})
	for _, row := range []struct {
		name   string
		mounts []Mount
		code   protocol.Code
		want   []string
	}{
		{"a directory over a file", []Mount{{FS: a, Origin: "ISO one"}, {FS: b, Origin: "templates"}}, protocol.CodeConflict, []string{"a is a file of ISO one and a directory of templates"}},
		{"a file over a directory", []Mount{{FS: b, Origin: "ISO one"}, {FS: a, Origin: "templates"}}, protocol.CodeConflict, []string{"a is a file of templates and a directory of ISO one"}},
		{"deeper", []Mount{{At: "x/d", FS: a, Origin: "one"}, {FS: memory(t, map[string]string{"x/d/a/y": "", "x/d/d/z": ""}), Origin: "two"}}, protocol.CodeConflict, []string{"x/d/a is a file of one and a directory of two"}},
		{"a mount on a file", []Mount{{FS: a, Origin: "one"}, {At: "a", FS: b, Origin: "two"}}, protocol.CodeConflict, []string{"file of one", "directory of two"}},
		{"a mount below a file", []Mount{{FS: a, Origin: "one"}, {At: "a/b/c", FS: b, Origin: "two"}}, protocol.CodeConflict, []string{"file of one", "directory of two"}},
		{"a file over a mount", []Mount{{At: "a/b/c", FS: b, Origin: "two"}, {FS: a, Origin: "one"}}, protocol.CodeConflict, []string{"file of one", "directory of two"}},
		{"a linked directory on a file", []Mount{{FS: a, Origin: "one"}, {Links: Links{"d/x": "d"}, Origin: "links"}}, protocol.CodeInvalid, []string{"circle"}},
		{"a linked file on a directory", []Mount{{FS: a, Origin: "one"}, {Links: Links{"d": "a"}, Origin: "links"}}, protocol.CodeConflict, []string{"d is a file of links and a directory of one"}},
		{"a directory inside of a linked file", []Mount{{FS: a, Origin: "one"}, {Links: Links{"l": "a"}, Origin: "links"}, {FS: memory(t, map[string]string{"l/x": ""}), Origin: "two"}}, protocol.CodeConflict, []string{"l is a file of", "directory of two"}},
		{"a file over a directory through a link", []Mount{{FS: a, Origin: "one"}, {Links: Links{"l/m": "d"}, Origin: "links"}, {FS: memory(t, map[string]string{"l/m/x/y": ""}), Origin: "two"}}, protocol.CodeConflict, []string{"l/m/x is a file of one and a directory of two"}},

		{"a link to itself", []Mount{{FS: a}, {Links: Links{"l": "l"}, Origin: "links"}}, protocol.CodeInvalid, []string{"link l of links leads in a circle"}},
		{"a link into itself", []Mount{{FS: a}, {Links: Links{"l": "l/x"}, Origin: "links"}}, protocol.CodeInvalid, []string{"circle"}},
		{"a link to what it is in", []Mount{{FS: a}, {Links: Links{"d/l": "d"}, Origin: "links"}}, protocol.CodeInvalid, []string{"circle"}},
		{"a link to the root", []Mount{{FS: a}, {Links: Links{"l": "."}, Origin: "links"}}, protocol.CodeInvalid, []string{"circle"}},
		{"two links to each other", []Mount{{FS: a}, {Links: Links{"l": "m", "m": "l"}, Origin: "links"}}, protocol.CodeInvalid, []string{"circle", "through"}},
		{"two trees in each other", []Mount{{FS: a}, {Links: Links{"x/l": "y", "y/l": "x"}, Origin: "links"}}, protocol.CodeInvalid, []string{"circle"}},
		{"a chain", []Mount{{FS: a}, {Links: Links{"1": "2", "2": "3", "3": "4", "4": "5", "5": "6", "6": "7", "7": "8", "8": "9", "9": "a"}, Origin: "links"}}, protocol.CodeInvalid, []string{"too many links"}},
		{"a link to nothing", []Mount{{FS: a}, {Links: Links{"l": "nothing"}, Origin: "links"}}, protocol.CodeNotFound, []string{"link l of links", "no nothing"}},
		{"a link upwards", []Mount{{FS: a}, {Links: Links{"l": "../a"}, Origin: "links"}}, protocol.CodeInvalid, []string{"upwards"}},
		{"an absolute link", []Mount{{FS: a}, {Links: Links{"l": "/a"}, Origin: "links"}}, protocol.CodeInvalid, []string{"absolute"}},
		{"a link above the root", []Mount{{FS: a}, {Links: Links{"../l": "a"}, Origin: "links"}}, protocol.CodeInvalid, []string{"upwards"}},
		{"the root as a link", []Mount{{FS: a}, {Links: Links{".": "a"}, Origin: "links"}}, protocol.CodeInvalid, []string{"root"}},
		{"many links", []Mount{{FS: a}, {Links: manyLinks(600), Origin: "links"}}, protocol.CodeInvalid, []string{"600 links"}},

		{"a bad place", []Mount{{At: "/a", FS: a, Origin: "one"}}, protocol.CodeInvalid, []string{"mount one at /a", "absolute"}},
		{"nothing to mount", []Mount{{At: "a", Origin: "one"}}, protocol.CodeInvalid, []string{"exactly one"}},
		{"two to mount", []Mount{{FS: a, Links: Links{"l": "a"}, Origin: "one"}}, protocol.CodeInvalid, []string{"exactly one"}},
		{"what cannot be read", []Mount{{FS: a}, {FS: failing{errors.New("I/O error")}, Origin: "disk"}}, protocol.CodeUnavailable, []string{"disk", "I/O error"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := New(row.mounts)
			wantCode(t, err, row.code)
			for _, want := range row.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q in it", err, want)
				}
			}
		})
	}
}

func manyLinks(n int) Links {
	all := Links{}
	for i := range n {
		all["l"+strings.Repeat("x", i)] = "a"
	}
	return all
}

// failing is a file system that gives an error, always.
type failing struct{ err error }

func (f failing) Open(string) (fs.File, error) { return nil, f.err }

// TestTroubleIsNotHidden: an older file is not served in place of one whose mount is in
// trouble.
func TestTroubleIsNotHidden(t *testing.T) {
	below := memory(t, map[string]string{"x": "old"})
	away := failing{protocol.Errorf(protocol.CodeUnavailable, "mirror", "no answer")}
	v := view(t, Mount{FS: below}, Mount{FS: away, Origin: "mirror", Remote: true}, Mount{FS: memory(t, map[string]string{"y": "rendered"})})
	_, err := v.Open("x")
	wantCode(t, err, protocol.CodeUnavailable)
	_, err = v.Stat("x")
	wantCode(t, err, protocol.CodeUnavailable)
	if text(t, v, "y") != "rendered" {
		t.Error("what lies over it is not read")
	}
	if diff := cmp.Diff([]string{"x", "y"}, names(t, v, ".")); diff != "" {
		t.Errorf("the list without what is away: %s", diff)
	}
}

// TestOpenFiles: any file system's files can be read at an offset, or the error says whose
// cannot.
func TestOpenFiles(t *testing.T) {
	plain := fstest.MapFS{"x": {Data: []byte("0123456789")}}
	for name, row := range map[string]struct {
		fsys fs.FS
		code protocol.Code
	}{
		"all":      {plain, ""},
		"seeks":    {only{plain, func(f fs.File) fs.File { return seeker{f.(io.ReadSeeker), f} }}, ""},
		"at":       {only{plain, func(f fs.File) fs.File { return readsAt{f.(io.ReaderAt), f} }}, ""},
		"one time": {only{plain, func(f fs.File) fs.File { return once{f} }}, protocol.CodeInternal},
	} {
		t.Run(name, func(t *testing.T) {
			v := view(t, Mount{FS: row.fsys, Origin: "it"})
			f, err := v.Open("x")
			wantCode(t, err, row.code)
			if err != nil {
				return
			}
			defer f.Close()
			c := f.(Content)
			b := make([]byte, 4)
			if n, err := c.ReadAt(b, 8); n != 2 || !errors.Is(err, io.EOF) || string(b[:n]) != "89" {
				t.Error(n, err, string(b))
			}
			if _, err := c.Seek(-3, io.SeekEnd); err != nil {
				t.Error(err)
			}
			if n, err := c.Read(b[:2]); n != 2 || err != nil || string(b[:2]) != "78" {
				t.Error(n, err, string(b))
			}
			if _, _, _, ok := f.(Sectioner).Section(); ok {
				t.Error("it lies on no disk")
			}
		})
	}
}

// only gives another form to the regular files of a file system.
type only struct {
	fs.FS
	form func(fs.File) fs.File
}

func (o only) Open(name string) (fs.File, error) {
	f, err := o.FS.Open(name)
	if fi, serr := f.Stat(); err == nil && serr == nil && !fi.IsDir() {
		return o.form(f), nil
	}
	return f, err
}

type seeker struct {
	io.ReadSeeker
	f fs.File
}

func (s seeker) Stat() (fs.FileInfo, error) { return s.f.Stat() }
func (s seeker) Close() error               { return s.f.Close() }

type readsAt struct {
	io.ReaderAt
	fs.File
}

type once struct{ f fs.File }

func (o once) Stat() (fs.FileInfo, error) { return o.f.Stat() }
func (o once) Read(b []byte) (int, error) { return o.f.Read(b) }
func (o once) Close() error               { return o.f.Close() }
