package fsview

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"rackboot/netboot/iso/isotest"
)

// benchImage is an ISO image with as many files as one of an installer for the network.
func benchImage(b *testing.B) []byte {
	b.Helper()
	t := isotest.Tree{Label: "X", RockRidge: true}
	for i := range 500 {
		t.Entries = append(t.Entries, isotest.Entry{Path: fmt.Sprintf("pool/main/%d/file%d.deb", i%20, i), Content: []byte("x")})
	}
	t.Entries = append(t.Entries, isotest.Entry{Path: "EFI/boot/bootx64.efi", Content: []byte(strings.Repeat("x", 1<<20))})
	return t.Bytes()
}

// benchMounts is a server with a folder, an ISO image and 20 rendered files in it.
func benchMounts(b *testing.B) []Mount {
	b.Helper()
	raw := benchImage(b)
	image, err := Archive(bytes.NewReader(raw), int64(len(raw)), "x")
	if err != nil {
		b.Fatal(err)
	}
	folder, err := Disk(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = folder.(io.Closer).Close() })
	rendered := map[string]string{}
	for i := range 20 {
		rendered[fmt.Sprintf("machines/%s/boot/EFI/boot/grub%d.cfg", uuid, i)] = "menuentry"
	}
	return []Mount{{FS: folder, Origin: "folder"}, {At: "mounts/isos/x", FS: image, Fold: true}, {Links: Links{"machines/" + uuid + "/boot": "mounts/isos/x"}}, {FS: memory(b, rendered)}}
}

// BenchmarkNew builds the view of one server, and swaps it in.
func BenchmarkNew(b *testing.B) {
	mounts := benchMounts(b)
	var s Set
	for b.Loop() {
		v, err := New(mounts)
		if err != nil {
			b.Fatal(err)
		}
		s.Swap("x", v)
	}
	s.Drop("x")
}

// BenchmarkOpen opens and closes files of each kind of mount.
func BenchmarkOpen(b *testing.B) {
	v := view(b, benchMounts(b)...)
	boot := "machines/" + uuid + "/boot/"
	for what, name := range map[string]string{
		"rendered": boot + "EFI/boot/grub7.cfg", "in the image": boot + "EFI/boot/bootx64.efi", "in another case": boot + "EFI/BOOT/BOOTX64.EFI", "nothing": boot + "EFI/boot/grub.cfg-01",
	} {
		b.Run(what, func(b *testing.B) {
			for b.Loop() {
				f, err := v.Open(name)
				if (err != nil) != (what == "nothing") {
					b.Fatal(err)
				}
				if err == nil {
					f.Close()
				}
			}
		})
	}
}
