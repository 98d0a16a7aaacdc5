package tpm

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/integration/uki"
	"rackboot/netboot/attest"
	"rackboot/netboot/attest/pehash"
)

// Patterns of files that integration/packages unpacked.
const (
	shimFile   = "loaders/bookworm-amd64/root/usr/lib/shim/shimx64.efi.signed"
	grubFile   = "loaders/bookworm-amd64/root/usr/lib/grub/x86_64-efi-signed/grubnetx64.efi.signed"
	kernelFile = "root/boot/vmlinuz-*-cloud-amd64"
	stubFile   = "root/usr/lib/systemd/boot/efi/linuxx64.efi.stub"
)

// Who signed an image, signed the hash that is computed here: it is in the signature, which the hash leaves out.
func TestSignedImages(t *testing.T) {
	for _, pattern := range []string{shimFile, grubFile, kernelFile} {
		file := unpacked(t, pattern)
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		hash := authenticode(t, raw)
		if n := bytes.Count(raw, hash); n == 0 {
			t.Errorf("%s: %x is in no signature", file, hash)
		}
		if plain := sha256.Sum256(raw); bytes.Equal(plain[:], hash) {
			t.Errorf("%s: it is the hash of the file", file)
		}
		changed := bytes.Clone(raw)
		changed[len(changed)/2] ^= 1
		if bytes.Equal(authenticode(t, changed), hash) {
			t.Errorf("%s: another program has its hash", file)
		}
	}
}

func authenticode(t *testing.T, raw []byte) []byte {
	t.Helper()
	hash, err := pehash.Authenticode(bytes.NewReader(raw), int64(len(raw)), crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// What the stub of an image will extend PCR 11 by, systemd-measure says too.
func TestUnifiedImage(t *testing.T) {
	measure := "/usr/lib/systemd/systemd-measure"
	if _, err := os.Stat(measure); err != nil {
		missing(t, "images", measure+" is not installed")
	}
	program(t, "images", "objcopy")
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"osrel":   "ID=rackboot-test\nNAME=\"Rackboot test\"\n", // which uki.Build writes
		"cmdline": "console=ttyS0 quiet",
		"initrd":  strings.Repeat("an initrd whose length is no multiple of anything", 1001),
	} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kernel := unpacked(t, kernelFile)
	err := uki.Build(t.Context(), uki.Config{Stub: unpacked(t, stubFile), Kernel: kernel, Initramfs: at("initrd"), Cmdline: "console=ttyS0 quiet"}, at("image"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), measure, "calculate", "--linux="+kernel, "--osrel="+at("osrel"), "--cmdline="+at("cmdline"), "--initrd="+at("initrd"), "--bank=sha256", "--phase=").Output()
	if err != nil {
		t.Fatal(err)
	}
	image, err := os.ReadFile(at("image"))
	if err != nil {
		t.Fatal(err)
	}
	sections, err := pehash.Unified(bytes.NewReader(image), int64(len(image)), crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	pcr := make([]byte, sha256.Size)
	for _, s := range sections {
		for _, digest := range [][]byte{s.NameDigest, s.Digest} {
			sum := sha256.Sum256(append(pcr, digest...))
			pcr = sum[:]
		}
	}
	if want := fmt.Sprintf("11:sha256=%x", pcr); strings.TrimSpace(string(out)) != want {
		t.Errorf("%s, systemd-measure has %s", want, out)
	}
	inner, err := pehash.Kernel(bytes.NewReader(image), int64(len(image)), crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(kernel)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(inner, authenticode(t, raw)) {
		t.Errorf("the kernel in the image has %x", inner)
	}
	x, err := attest.OfUnified(bytes.NewReader(image), int64(len(image)))
	if err != nil || len(x.Images) != 2 || !bytes.Equal(x.Images[0].Digest, authenticode(t, image)) || !bytes.Equal(x.Images[1].Digest, inner) || len(x.Sections) != len(sections) {
		t.Errorf("what is expected of it is %+v, %v", x, err)
	}
	if x, err := attest.OfUnified(bytes.NewReader(raw), int64(len(raw))); err == nil || len(x.Images) != 0 {
		t.Errorf("a kernel alone is taken for a unified image: %+v", x)
	}
}
