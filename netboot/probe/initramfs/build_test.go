package initramfs

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/protocol"
)

// elfFile is an ELF object of 64 bits with a section .modinfo, or with a program header
// of a type.
func elfFile(modinfo string, program uint32) []byte {
	const head, section, entry = 64, 64, 56
	names := "\x00.modinfo\x00.shstrtab\x00"
	le := binary.LittleEndian
	b := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 9)...)
	b = le.AppendUint32(le.AppendUint16(le.AppendUint16(b, 1), 62), 1)
	data := head + entry
	table := data + len(modinfo) + len(names)
	b = le.AppendUint64(b, 0)
	b = le.AppendUint64(b, head)
	b = le.AppendUint64(b, uint64(table))
	b = le.AppendUint32(b, 0)
	for _, v := range []uint16{head, entry, 1, section, 3, 2} {
		b = le.AppendUint16(b, v)
	}
	b = le.AppendUint32(b, program)
	b = append(b, make([]byte, entry-4)...)
	b = append(b, modinfo+names...)
	row := func(name, kind uint32, offset, size int) {
		b = le.AppendUint32(le.AppendUint32(b, name), kind)
		b = append(b, make([]byte, 16)...)
		b = le.AppendUint64(le.AppendUint64(b, uint64(offset)), uint64(size))
		b = append(b, make([]byte, 24)...)
	}
	row(0, 0, 0, 0)
	row(1, 1, data, len(modinfo))
	row(10, 3, data+len(modinfo), len(names))
	return b
}

func write(t *testing.T, path string, content []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	for name, needs := range map[string]string{"net/virtio_net": "net_failover,virtio", "core/net-failover": "failover", "core/failover": "", "virtio/virtio": "", "nvme/nvme": ""} {
		write(t, filepath.Join(dir, "kernel", name+".ko"), elfFile("license=GPL\x00depends="+needs+"\x00", 0))
	}
	modules, err := Drivers(dir)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Program: write(t, filepath.Join(dir, "probe"), elfFile("", 1)), Modules: modules, Files: map[string][]byte{Authority: []byte("PEM")}}
	var one, two bytes.Buffer
	for _, w := range []io.Writer{&one, &two} {
		if err := Write(w, cfg); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("the same files give other bytes")
	}
	z, err := gzip.NewReader(&one)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(entries(t, raw), " ")
	for _, want := range []string{
		"init:100755:", "ca.pem:100644:PEM", "modules/virtio_net.ko:100644:",
		"modules/list:100644:/modules/failover.ko\n/modules/net_failover.ko\n/modules/virtio.ko\n/modules/virtio_net.ko\n/modules/nvme.ko\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	dir := t.TempDir()
	const interp = 3 // PT_INTERP
	for name, content := range map[string][]byte{"dynamic": elfFile("", interp), "script": []byte("#!/bin/sh\n")} {
		if err := Write(io.Discard, Config{Program: write(t, filepath.Join(dir, name), content)}); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Write(io.Discard, Config{Program: filepath.Join(dir, "none")}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("none: %v", err)
	}
	write(t, filepath.Join(dir, "packed", "igb.ko.xz"), nil)
	if _, err := Modules(filepath.Join(dir, "packed"), "igb"); protocol.CodeOf(err) != protocol.CodeUnsupported {
		t.Errorf("compressed: %v", err)
	}
	if _, err := Modules(dir, "igb2"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("missing: %v", err)
	}
	write(t, filepath.Join(dir, "empty", "x"), nil)
	if _, err := Drivers(filepath.Join(dir, "empty")); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("no driver: %v", err)
	}
}
