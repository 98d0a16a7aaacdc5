package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"rackboot/protocol"
)

// WriteNew writes a file whole, or not at all, and replaces none.
func WriteNew(path string, raw []byte) error {
	const op = "write"
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return protocol.Errorf(protocol.CodeConflict, op, "%s is there already", path).WithHint("give another name")
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".export-*") // mode 0600
	if err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err).WithHint("check the folder of %s", path)
	}
	defer os.Remove(f.Name())
	_, wrong := f.Write(raw)
	if err := errors.Join(wrong, f.Sync(), f.Close()); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err).WithHint("check the disk of %s", path)
	}
	if err := os.Link(f.Name(), path); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err).WithHint("check the folder of %s", path)
	}
	return nil
}
