package pki

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rackboot/protocol"
)

const (
	caFile      = "ca.pem"
	hubFile     = "hub.pem"
	signingFile = "signing.pem"
	tokenFile   = "admin.token"

	tempPrefix = ".new-"
	maxFile    = 64 << 10 // bytes; a longer one is not ours
)

// folder is the directory that holds the files.
type folder string

// prepare makes the folder private and removes what a crash left half-written.
func (f folder) prepare() error {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return f.failed("create", "", err)
	}
	if err := os.Chmod(string(f), 0o700); err != nil {
		return f.failed("protect", "", err)
	}
	entries, err := os.ReadDir(string(f))
	if err != nil {
		return f.failed("read", "", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempPrefix) {
			if err := os.Remove(filepath.Join(string(f), e.Name())); err != nil {
				return f.failed("remove", e.Name(), err)
			}
		}
	}
	return nil
}

// read returns nil without an error if there is no such file.
func (f folder) read(name string) ([]byte, error) {
	path := filepath.Join(string(f), name)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, f.failed("read", name, err)
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return nil, protocol.Errorf(protocol.CodeInvalid, "pki.Open", "%s is not a key file", path).
			WithHint("move it away, or restore it from the backup")
	case info.Mode().Perm()&0o077 != 0:
		return nil, protocol.Errorf(protocol.CodeDenied, "pki.Open", "%s may be read by others (mode %o)", path, info.Mode().Perm()).
			WithHint("run: chmod 600 %s; if others had access, replace the key", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, f.failed("read", name, err)
	}
	return data, nil
}

// write replaces the file as a whole; it is on disk when write returns.
func (f folder) write(name string, data []byte) error {
	temp, err := os.CreateTemp(string(f), tempPrefix+name+"-*") // mode 0600
	if err != nil {
		return f.failed("write", name, err)
	}
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), filepath.Join(string(f), name))
	}
	if err != nil {
		_ = os.Remove(temp.Name())
		return f.failed("write", name, err)
	}
	dir, err := os.Open(string(f))
	if err != nil {
		return f.failed("sync", name, err)
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return f.failed("sync", name, err)
	}
	return nil
}

func (f folder) failed(verb, name string, err error) error {
	return protocol.Errorf(protocol.CodeUnavailable, "pki.Open", "cannot %s %s: %w", verb, filepath.Join(string(f), name), err).
		WithHint("the hub must own the folder and be able to write to its disk")
}

// broken says that a file is there and cannot be used.
func (f folder) broken(name string, err error) error {
	return protocol.Errorf(protocol.CodeInvalid, "pki.Open", "%s is damaged: %w", filepath.Join(string(f), name), err).
		WithHint("restore it from the backup; it is never replaced by itself, because agents trust it")
}
