package files

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"rackboot/netboot"
	"rackboot/netboot/fsview"
	"rackboot/protocol"
)

// open opens a file of a view, which stays open as long as the file is.
func (e *envs) open(server, generation, name string, at time.Time) (*netboot.File, error) {
	const op = "open boot file"
	env, ok := e.acquire(server, generation)
	if !ok {
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "the boot environment of %s is another one by now", server)
	}
	defer env.view.Release()
	f, err := env.view.Open(name)
	switch {
	case awayNow(err): // denied is for strangers, and looks like what is not there
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	case err != nil:
		return nil, protocol.Errorf(protocol.CodeOf(err), op, "%w", err)
	}
	info, err := f.Stat()
	content, ok := f.(fsview.Content)
	if err != nil || !ok {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%s of %s is no file: %w", name, server, errors.Join(err, f.Close()))
	}
	return &netboot.File{
		ReadSeekCloser: content, Size: info.Size(), ModTime: at,
		ContentType: netboot.ContentType(name), ETag: fmt.Sprintf("\"%x\"", sha256.Sum256(fmt.Appendf(nil, "%s %q %d %s", generation, name, info.Size(), info.ModTime()))),
	}, nil
}
