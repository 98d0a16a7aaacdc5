package iso

import (
	"bytes"
	"context"
	"encoding/binary"
	"strings"
	"testing"

	"rackboot/hub/store"
	"rackboot/netboot/bootenv"
	"rackboot/netboot/iso/isotest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// foreign is the beginning of a kernel for an architecture of a machine type.
func foreign(machine uint16) []byte {
	b := make([]byte, 0x200)
	copy(b, "MZ")
	b[0x3c] = 0x40
	copy(b[0x40:], "PE\x00\x00")
	binary.LittleEndian.PutUint16(b[0x44:], machine)
	return b
}

func medium(entries ...isotest.Entry) []byte {
	return isotest.Tree{RockRidge: true, Entries: entries}.Bytes()
}

// ofMedium is an environment of X.iso for amd64.
func ofMedium(a resource.EnvArch) *resource.BootEnv {
	a.IsoFile = "X.iso"
	e := &resource.BootEnv{Spec: resource.BootEnvSpec{OS: resource.EnvOS{Name: "x-1", SupportedArchitectures: map[string]resource.EnvArch{"amd64": a}}}}
	e.Metadata.Name = "x"
	e.Default()
	return e
}

// TestLacks: what an environment names is in the file and can be read, at its upload and for
// an environment that comes after it (P7).
func TestLacks(t *testing.T) {
	kernel, initrd := bytes.Repeat([]byte("kernel "), 2000), bytes.Repeat([]byte("initrd "), 2000)
	good := medium(isotest.Entry{Path: "install/vmlinuz", Content: kernel}, isotest.Entry{Path: "install/initrd", Content: initrd})
	beyond := medium(isotest.Entry{Path: "install/vmlinuz", Content: kernel}, isotest.Entry{Path: "install/initrd", Content: initrd, Change: func(r []byte) { r[12] = 0xff }})
	plain := resource.EnvArch{Kernel: "install/vmlinuz", Initrds: []string{"install/initrd"}}
	upper := resource.EnvArch{Kernel: "INSTALL/VMLINUZ"}
	for _, row := range []struct {
		name    string
		content []byte
		arch    resource.EnvArch
		field   string
		says    string
	}{
		{"all there", good, plain, "", ""},
		{"in another case, as firmware asks", good, upper, "", ""},
		{"no kernel", good, resource.EnvArch{Kernel: "install/bzImage"}, "kernel", "not exist"},
		{"no initrd", good, resource.EnvArch{Kernel: "install/vmlinuz", Initrds: []string{"install/initrd", "more"}}, "initrds[1]", "not exist"},
		{"no loader", good, resource.EnvArch{Kernel: "install/vmlinuz", Loader: "EFI/BOOT/BOOTX64.EFI"}, "loader", "not exist"},
		{"an initrd that ends beyond the image", beyond, plain, "initrds[0]", "should go on to byte"},
		{"a kernel for arm64", medium(isotest.Entry{Path: "k", Content: foreign(0xaa64)}), resource.EnvArch{Kernel: "k"}, "kernel", "is for arm64"},
		{"a kernel that is empty", medium(isotest.Entry{Path: "k"}), resource.EnvArch{Kernel: "k"}, "kernel", "is empty"},
		{"a kernel that is a web page", medium(isotest.Entry{Path: "k", Content: []byte("<!DOCTYPE html><title>404</title>")}), resource.EnvArch{Kernel: "k"}, "kernel", "is a web page"},
		{"a link that leads nowhere", medium(isotest.Entry{Path: "k", Link: "gone"}), resource.EnvArch{Kernel: "k"}, "kernel", `the link "k" leads to "gone"`},
		{"links in a circle", medium(isotest.Entry{Path: "k", Link: "l"}, isotest.Entry{Path: "l", Link: "k"}), resource.EnvArch{Kernel: "k"}, "kernel", "more than 40 links"},
		{"a folder", medium(isotest.Entry{Path: "k", Dir: true}), resource.EnvArch{Kernel: "k"}, "kernel", "not a file"},
	} {
		t.Run(row.name, func(t *testing.T) {
			env := ofMedium(row.arch)
			s := newSite(t, nil)
			s.apply(env)
			_, err := s.upload(request("X.iso", row.content), row.content)
			if row.says == "" {
				if err != nil {
					t.Fatal(err)
				}
			} else {
				wants(t, "an environment that was there", err, protocol.CodeInvalid, "BootEnv x", row.field, row.says)
				if list := s.List(t.Context()); len(list.Items)+len(list.Uploads) != 0 {
					t.Errorf("what was refused has a name: %+v", list)
				}
			}
			s = newSite(t, nil) // the file first
			s.uploaded(request("X.iso", row.content), row.content)
			wrong, err := s.LacksOf(t.Context(), env.Spec)
			if err != nil {
				t.Fatal(err)
			}
			if row.says == "" {
				if len(wrong) > 0 {
					t.Error(wrong)
				}
				return
			}
			if len(wrong) != 1 || wrong[0].Path != "spec.os.supportedArchitectures.amd64."+row.field || !strings.Contains(wrong[0].Message, row.says) {
				t.Errorf("%+v, want %s: %s", wrong, row.field, row.says)
			}
			arch := env.Spec.OS.SupportedArchitectures["amd64"]
			arch.Sha256 = strings.Repeat("0", 64)
			env.Spec.OS.SupportedArchitectures["amd64"] = arch
			if wrong, err := s.LacksOf(t.Context(), env.Spec); len(wrong) > 0 || err != nil {
				t.Errorf("it waits for another file, and %v, %v", wrong, err)
			}
		})
	}
	t.Run("cut off", func(t *testing.T) {
		s := newSite(t, nil)
		cut := good[:len(good)-isotest.Sector*2]
		_, err := s.upload(request("X.iso", cut), cut)
		wants(t, "without any environment", err, protocol.CodeInvalid, "should go on to byte")
	})
}

// TestLacksOnce: a file is read once, but one that could not be read for now is again.
func TestLacksOnce(t *testing.T) {
	s := newSite(t, nil)
	content := medium(isotest.Entry{Path: "k", Content: []byte("kernel")})
	s.uploaded(request("X.iso", content), content)
	needs := []bootenv.Need{{Part: bootenv.PartKernel, Path: "k", Arch: "amd64"}}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Lacks(ended, "X.iso", digestOf(content), needs); protocol.CodeOf(err) != protocol.CodeTimeout {
		t.Errorf("a context that ended: %v", err)
	}
	if wrong, err := s.Lacks(t.Context(), "X.iso", digestOf(content), needs); err != nil || len(wrong) != 0 || len(s.reading.found) != 1 {
		t.Errorf("%v, %v, kept %d", wrong, err, len(s.reading.found))
	}
	if wrong, err := s.Lacks(ended, "X.iso", digestOf(content), needs); err != nil || len(wrong) != 0 {
		t.Errorf("it was read again: %v, %v", wrong, err)
	}
	if wrong, err := s.Lacks(t.Context(), "X.iso", "sha256:"+strings.Repeat("0", 64), needs); err != nil || wrong != nil {
		t.Errorf("a content that is not there: %v, %v", wrong, err)
	}
}

func (s *site) apply(objs ...resource.Object) {
	s.t.Helper()
	if _, err := s.store.Sets.Apply(context.Background(), objs, store.ApplyOptions{By: "ann"}); err != nil {
		s.t.Fatal(err)
	}
}
