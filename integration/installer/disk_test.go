package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestFindDisk(t *testing.T) {
	const large = minDisk/sector + 1
	for _, row := range []struct {
		name  string
		disks map[string]int // sectors
		want  string
	}{
		{"the blank boot device comes first", map[string]int{"vda": 2048, "vdb": large}, "/dev/vdb"},
		{"another bus", map[string]int{"vda": large, "sr0": large}, "/dev/vda"},
		{"none", map[string]int{"vda": 2048}, ""},
		{"two", map[string]int{"vda": large, "vdb": large}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			root := t.TempDir()
			for disk, sectors := range row.disks {
				if err := os.Mkdir(filepath.Join(root, disk), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(root, disk, "size"), fmt.Appendf(nil, "%d\n", sectors), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := findDisk(root)
			if got != row.want || (err == nil) != (row.want != "") {
				t.Errorf("got %q, %v, want %q", got, err, row.want)
			}
		})
	}
}

func TestCopySparse(t *testing.T) {
	image := make([]byte, 5*block+100)
	copy(image[block:], "first")
	copy(image[5*block:], "last")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(image); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "disk")
	install := func(packed []byte) (int64, error) {
		to, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer to.Close()
		from, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		return copySparse(to, from)
	}
	written, err := install(packed.Bytes())
	if err != nil || written != block+100 {
		t.Errorf("wrote %d bytes, %v, want %d", written, err, block+100)
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, image) {
		t.Errorf("the disk differs from the image (%v)", err)
	}
	// An image that was cut off must not count as installed.
	if _, err := install(packed.Bytes()[:packed.Len()-9]); err == nil {
		t.Error("a truncated image was installed")
	}
}
