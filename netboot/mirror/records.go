package mirror

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
)

// The first letters of the records' files.
const (
	prefixEntry = "e-"
	prefixPin   = "p-"
	prefixTemp  = "t-"
)

// records are the small files that describe contents. Each is written aside, fsynced and
// renamed.
type records struct {
	dir    string
	folder *os.File // is fsynced after a rename
	logger *slog.Logger
}

func openRecords(dir string, logger *slog.Logger) (*records, error) {
	folder, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	return &records{dir, folder, logger}, nil
}

func (r *records) path(name string) string { return filepath.Join(r.dir, name) }

// discard removes a file of the cache. One that stays is found by the next load.
func (r *records) discard(name string) {
	if err := os.Remove(r.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.logger.Warn("file of the mirror's cache not removed", "path", r.path(name), "err", err)
	}
}

// stage writes a description aside, for a rename.
func (r *records) stage(value any) (temp string, err error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(r.dir, prefixTemp)
	if err != nil {
		return "", err
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// place gives a staged file its name, or removes it. It is durable after the next
// settle.
func (r *records) place(temp, name string) error {
	if err := os.Rename(temp, r.path(name)); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}

// settle makes names durable.
func (r *records) settle() error { return r.folder.Sync() }

// small reads a file that describes another.
func (r *records) small(name string) ([]byte, error) {
	info, err := os.Stat(r.path(name))
	if err != nil {
		return nil, err
	}
	if info.Size() > maxSidecar {
		return nil, errSidecar
	}
	return os.ReadFile(r.path(name))
}
