package pki

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"rackboot/protocol"
	"rackboot/state/file"
)

const (
	caFile      = "ca.pem"
	hubFile     = "hub.pem"
	signingFile = "signing.pem"
	tokenFile   = "admin.token"

	maxFile = 64 << 10 // bytes; a longer one is not ours
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
	return file.Sweep(string(f))
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
	return file.Replace(filepath.Join(string(f), name), data, 0o600)
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
