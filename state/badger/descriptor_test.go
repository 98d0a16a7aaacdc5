package badger

import (
	"os"
	"path/filepath"
	"testing"
)

// A store's directory is found without /proc too, and with it also when another one has taken its path.
func TestByDescriptor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	dir, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if got := byDescriptor(filepath.Join(t.TempDir(), "fd"), dir); got != path {
		t.Errorf("without /proc it is %s", got)
	}
	if err := os.Rename(path, path+".aside"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	own, err := dir.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if found, err := os.Stat(byDescriptor("/proc/self/fd", dir)); err != nil || !os.SameFile(own, found) {
		t.Errorf("it leads to another directory, %v", err)
	}
}
