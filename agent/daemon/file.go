package daemon

import (
	"os"
	"path/filepath"

	"rackboot/state"
)

// replaceFile writes a file of the agent's own as a whole: after a crash it is the one
// before or the new one. point names the places where tests let it crash.
func replaceFile(path string, data []byte, point string, crash state.Crasher) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	crash.At(point + ".begun")
	if _, err := f.Write(data); err != nil {
		_ = f.Close() // the write's error says more
		return err
	}
	if err := f.Sync(); err != nil {
		_ = f.Close() // the sync's error says more
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	crash.At(point + ".written")
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	crash.At(point + ".renamed")
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // opened to sync only
	return dir.Sync()
}
