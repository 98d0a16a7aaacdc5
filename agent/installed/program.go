package installed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"

	"rackboot/protocol"
	"rackboot/state/file"
)

// DigestOf is the SHA-256 of a program on disk.
func DigestOf(path string) (digest string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", protocol.Errorf(protocol.CodeUnavailable, "read the program", "%w", err)
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", protocol.Errorf(protocol.CodeUnavailable, "read the program", "%s: %w", path, err)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// Install puts a program into a slot. It is on disk when Install returns nil; else the slot has what it had. Errors: invalid
// for content that is not what digest and size say, unavailable.
func (f Files) Install(ctx context.Context, slot Place, digest string, size int64, content io.Reader) (err error) {
	const op = "install a program"
	path := f.Program(slot)
	temp, err := file.Begin(path)
	if err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp.Name()) // the first error says more
		}
	}()
	f.Crash.At("installed.program.begun")
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(temp, h), io.LimitReader(reader{ctx, content}, size+1))
	if err == nil {
		err = errors.Join(temp.Chmod(0o700), temp.Sync())
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err).WithHint("look at the space on the disk of %s", f.Dir)
	}
	if got := "sha256:" + hex.EncodeToString(h.Sum(nil)); n != size || got != digest {
		return protocol.Errorf(protocol.CodeInvalid, op, "it is %s with more or less than %d bytes, or not the %s that was signed", got, size, digest)
	}
	f.Crash.At("installed.program.written")
	if err = os.Rename(temp.Name(), path); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	f.Crash.At("installed.program.renamed")
	d, err := os.Open(filepath.Dir(path))
	if err == nil {
		err = errors.Join(d.Sync(), d.Close())
	}
	if err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	return nil
}

// reader ends with its context.
type reader struct {
	ctx context.Context
	in  io.Reader
}

func (r reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.in.Read(b)
}
