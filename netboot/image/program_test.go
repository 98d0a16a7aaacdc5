package image

import (
	"strings"
	"testing"
)

// TestCheckProgram: a kernel, UKI or loader of another architecture is known before it is
// started, and one of a form that is not known here is left to its loader.
func TestCheckProgram(t *testing.T) {
	arm := make([]byte, 0x40)
	copy(arm[armMagic:], "ARM\x64")
	for _, row := range []struct {
		name string
		head []byte
		arch string
		want string // in the error; empty is none
	}{
		{"a bzImage", bz(0x020f, bz64), "amd64", ""},
		{"a bzImage on arm64", bz(0x020f, bz64), "arm64", "for amd64"},
		{"a bzImage of 32 bits", bz(0x020f, 0), "amd64", "for 386"},
		{"an Image", arm, "arm64", ""},
		{"an Image on amd64", arm, "amd64", "for arm64"},
		{"an EFI program", program(machineAMD64, ".text"), "amd64", ""},
		{"an EFI program on arm64", program(machineAMD64, ".text"), "arm64", "for amd64"},
		{"a UKI on amd64", unified(machineARM64), "amd64", "for arm64"},
		{"an Image that gzip compressed", []byte("\x1f\x8b\x08"), "arm64", ""},
		{"a DOS program", append([]byte("MZ"), make([]byte, 100)...), "amd64", ""},
		{"nothing", nil, "amd64", "is empty"},
		{"the page of a mirror", []byte("\n<!DOCTYPE HTML PUBLIC><html><body>Not Found"), "amd64", "web page"},
	} {
		err := CheckProgram(row.head, 1<<20, row.arch)
		if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
}

// The file is from outside; the architecture is one of ours, as a manifest was checked for.
func FuzzCheckProgram(f *testing.F) {
	for _, head := range [][]byte{bz(0x020f, bz64), program(machineAMD64, ".text"), unified(machineARM64), nil} {
		f.Add(head, false)
	}
	f.Fuzz(func(t *testing.T, head []byte, arm bool) {
		arch := "amd64"
		if arm {
			arch = "arm64"
		}
		if err := CheckProgram(head, int64(len(head)), arch); err != nil && (len(err.Error()) > 500 || err.Error() == "") {
			t.Errorf("%q", err)
		}
	})
}
