package files

import (
	"io"
	"os"

	"rackboot/protocol"
)

// MaxSmall bounds a token or CA file in bytes.
const MaxSmall = 256 << 10

// Input is what commands read besides files: standard input, and the environment.
type Input struct {
	Stdin  io.Reader
	Getenv func(string) string
}

// Small reads a file, or with - standard input.
func (s *Input) Small(path string) (string, error) {
	r := s.Stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return "", protocol.Errorf(protocol.CodeNotFound, "read", "%w", err).WithHint("check the path %s", path)
		}
		defer f.Close()
		r = f
	}
	raw, err := io.ReadAll(io.LimitReader(r, MaxSmall+1))
	if err != nil {
		return "", protocol.Errorf(protocol.CodeUnavailable, "read", "%w", err)
	}
	if len(raw) > MaxSmall {
		return "", protocol.Errorf(protocol.CodeInvalid, "read", "%s is longer than %d bytes", path, MaxSmall)
	}
	return string(raw), nil
}

// Bounded reads a small file; nothing for no file.
func Bounded(flag, name string, most int64) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeNotFound, "read "+flag, "%w", err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return nil, protocol.Errorf(protocol.CodeUnavailable, "read "+flag, "%w", err)
	case len(raw) == 0 || int64(len(raw)) > most:
		return nil, protocol.Errorf(protocol.CodeInvalid, "read "+flag, "%s has not 1 to %d bytes", name, most).WithHint("give a file as gpg makes it, with no more keys than are needed")
	}
	return raw, nil
}
