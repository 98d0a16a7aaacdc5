package daemon

import (
	"os"
	"path/filepath"

	"rackboot/state"
	"rackboot/state/file"
)

// replaceFile writes a file of the agent's own, in a folder that it makes. point names the places
// where tests let it crash.
func replaceFile(path string, data []byte, point string, crash state.Crasher) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return file.Writer{Crash: crash, Point: point}.Replace(path, data, 0o600)
}
