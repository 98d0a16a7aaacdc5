package images

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"rackboot/netboot/iso"
	"rackboot/protocol"
)

var required = flag.String("require", "", "comma separated resources whose absence is a failure instead of a skip: iso")

// need skips the test, or fails it where the resource is required, where a program is not
// installed.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err == nil {
			continue
		}
		text := p + " is not installed; run integration/packages as root, then go test ./integration/images -require=iso"
		if slices.Contains(strings.Split(*required, ","), "iso") {
			t.Fatal(text)
		}
		t.Skip(text)
	}
}

const deep = "1/2/3/4/5/6/7/8/9/10/11/12/deep.txt"

// files is what is on the images; a link begins with an arrow.
func files() map[string]string {
	out := map[string]string{
		deep:                                 "deep",
		"1/2/3/4/5/6/7/8/short":              "relocated",
		"install.amd/vmlinuz":                strings.Repeat("kernel", 100_000),
		"install.amd/initrd.gz":              "",
		"EFI/BOOT/BOOTX64.EFI":               "MZ",
		".disk/info":                         "a name that begins with a dot",
		"Größe/naïve 文件.txt":                 "names of Unicode",
		strings.Repeat("n", 200) + ".tar.gz": "a long name",
		"debian":                             "→.",
		"dists/stable":                       "→bookworm",
		"dists/bookworm/Release":             "Suite: stable",
		"dists/up":                           "→../install.amd/../dists/bookworm",
		"dists/" + strings.Repeat("l", 60):   "→../" + strings.Repeat("n", 200) + ".tar.gz",
	}
	for i := range 400 {
		out[fmt.Sprintf("pool/main/package-with-a-name-of-some-length_%03d_amd64.deb", i)] = fmt.Sprint(i)
	}
	return out
}

func changed() time.Time { return time.Date(2026, 2, 28, 12, 30, 15, 0, time.UTC) }

// source is a folder with the files.
func source(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files() {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		target, isLink := strings.CutPrefix(content, "→")
		var err error
		if isLink {
			err = os.Symlink(target, at)
		} else {
			err = errors.Join(os.WriteFile(at, []byte(content), 0o640), os.Chtimes(at, changed(), changed()))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// master runs a program that makes an image, and opens that.
func master(t *testing.T, command []string, dir string) *iso.FS {
	t.Helper()
	image := filepath.Join(t.TempDir(), "image.iso")
	args := append(slices.Clone(command[1:]), "-o", image, dir)
	if out, err := exec.CommandContext(t.Context(), command[0], args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, out)
	}
	f, err := os.Open(image)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	about, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	v, err := iso.OpenFS(f, about.Size())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestRockRidge: all is there as it was, also what genisoimage relocates (CL).
func TestRockRidge(t *testing.T) {
	need(t, "xorriso", "genisoimage")
	dir := source(t)
	for _, command := range [][]string{
		{"xorriso", "-as", "mkisofs", "-quiet", "-R"},
		{"xorriso", "-as", "mkisofs", "-quiet", "-R", "-J", "-joliet-long", "-iso-level", "3"},
		{"genisoimage", "-quiet", "-R"},
		{"genisoimage", "-quiet", "-R", "-J", "-joliet-long"},
		{"genisoimage", "-quiet", "-r", "-D"},
	} {
		t.Run(strings.Join(command, " "), func(t *testing.T) {
			v := master(t, command, dir)
			var names []string
			for name, want := range files() {
				names = append(names, name)
				if target, isLink := strings.CutPrefix(want, "→"); isLink {
					if got, err := v.ReadLink(name); err != nil || got != target {
						t.Errorf("%s leads to %q, %v", name, got, err)
					}
					continue
				}
				if got, err := fs.ReadFile(v, name); err != nil || string(got) != want {
					t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(want), err)
				}
				about, err := v.Stat(name)
				if err != nil || !about.ModTime().Equal(changed()) || about.Mode().Perm()&0o440 != 0o440 {
					t.Errorf("%s: %v, %v", name, about, err)
				}
			}
			if err := fstest.TestFS(v, names...); err != nil {
				t.Error(err)
			}
			if _, err := v.Stat("dists/stable/Release"); err != nil {
				t.Error(err)
			}
			if _, err := v.Stat("rr_moved"); (err == nil) != strings.HasPrefix(t.Name(), "TestRockRidge/genisoimage_-quiet_-R") {
				t.Errorf("the folder of relocated ones: %v", err) // the others have deep ones where they are
			}
			if _, err := v.Stat("EFI/boot/BOOTX64.EFI"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("in another case: %v", err)
			}
		})
	}
}

// TestOtherNames: Joliet cuts names after 64 characters, or 103 if it is told to; plain
// names are of level 1 to 4.
func TestOtherNames(t *testing.T) {
	need(t, "xorriso", "genisoimage")
	dir := t.TempDir()
	for name, content := range files() {
		if at := filepath.Join(dir, filepath.FromSlash(name)); !strings.HasPrefix(content, "→") {
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(content), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, row := range []struct {
		command []string
		names   map[string]string // of the image and of the source
	}{
		{[]string{"xorriso", "-as", "mkisofs", "-quiet", "--norock", "-J"}, map[string]string{
			"Größe/naïve 文件.txt": "Größe/naïve 文件.txt", "GRÖSSE/NAÏVE 文件.TXT": "", "install.AMD/VMLINUZ": "install.amd/vmlinuz", deep: deep,
		}},
		{[]string{"genisoimage", "-quiet", "-J", "-D"}, map[string]string{
			"Größe/naïve 文件.txt": "Größe/naïve 文件.txt", "install.AMD/VMLINUZ": "install.amd/vmlinuz", deep: deep, ".disk/info": ".disk/info",
		}},
		{[]string{"xorriso", "-as", "mkisofs", "-quiet", "--norock", "-iso-level", "3"}, map[string]string{
			"efi/boot/bootx64.efi": "EFI/BOOT/BOOTX64.EFI", "install.amd/vmlinuz": "install.amd/vmlinuz",
		}},
		{[]string{"genisoimage", "-quiet", "-D", "-iso-level", "3"}, map[string]string{
			"efi/boot/bootx64.efi": "EFI/BOOT/BOOTX64.EFI", "install.amd/vmlinuz": "install.amd/vmlinuz",
		}},
		{[]string{"genisoimage", "-quiet", "-D", "-iso-level", "4"}, map[string]string{ // a second descriptor that is not Joliet's
			"EFI/BOOT/BOOTX64.EFI": "EFI/BOOT/BOOTX64.EFI", "install.amd/vmlinuz": "install.amd/vmlinuz",
		}},
	} {
		t.Run(strings.Join(row.command, " "), func(t *testing.T) {
			v := master(t, row.command, dir)
			for name, of := range row.names {
				got, err := fs.ReadFile(v, name)
				if want, ok := files()[of]; ok && (err != nil || string(got) != want) || !ok && !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s: %d bytes, %v", name, len(got), err)
				}
			}
			sizes := 0
			err := fs.WalkDir(v, ".", func(name string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				if strings.ContainsAny(path.Base(name), ";") || strings.HasSuffix(name, ".") {
					t.Errorf("%q", name)
				}
				about, err := d.Info()
				sizes += int(about.Size())
				return err
			})
			want := 0
			for _, content := range files() {
				if !strings.HasPrefix(content, "→") {
					want += len(content)
				}
			}
			if err != nil || sizes != want {
				t.Errorf("%d bytes, want %d, %v", sizes, want, err)
			}
			if err := fstest.TestFS(v, slices.Collect(firstOf(v))...); err != nil {
				t.Error(err)
			}
		})
	}
}

// firstOf is one name of a file system, which fstest wants.
func firstOf(v fs.FS) func(func(string) bool) {
	return func(yield func(string) bool) {
		if list, err := fs.ReadDir(v, "."); err == nil && len(list) > 0 {
			yield(list[0].Name())
		}
	}
}

// TestCompressed: a file that xorriso compresses for zisofs is refused, and no other.
func TestCompressed(t *testing.T) {
	need(t, "xorriso")
	dir := t.TempDir()
	for _, name := range []string{"packed", "plain"} {
		if err := os.WriteFile(filepath.Join(dir, name), bytes.Repeat([]byte("x"), 200_000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	image := filepath.Join(t.TempDir(), "image.iso")
	out, err := exec.CommandContext(t.Context(), "xorriso", "-outdev", image, "-map", dir, "/", "-set_filter", "--zisofs", "/packed", "--", "-commit").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	content, err := os.ReadFile(image)
	if err != nil {
		t.Fatal(err)
	}
	v, err := iso.OpenFS(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fs.ReadFile(v, "packed"); protocol.CodeOf(err) != protocol.CodeUnsupported {
		t.Error(err)
	}
	if got, err := fs.ReadFile(v, "plain"); err != nil || len(got) != 200_000 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
