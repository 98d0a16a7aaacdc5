package depot

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/file"
)

// Folder keeps backups as files of a folder, mode 0600. What is not finished is named as package file
// names it.
type Folder struct {
	Dir string
	// Crash is asked between the durable steps; nil in production.
	Crash state.Crasher
}

var _ Place = Folder{}

// String implements Place.
func (f Folder) String() string { return f.Dir }

func (f Folder) path(name string) string { return filepath.Join(f.Dir, name) }

// Put implements Place. The file has its name once it is on disk and was read from there.
func (f Folder) Put(ctx context.Context, name string, write func(io.Writer) error, check func(io.Reader) error) error {
	const op = "keep backup"
	if _, err := os.Lstat(f.path(name)); !errors.Is(err, fs.ErrNotExist) {
		return protocol.Errorf(protocol.CodeConflict, op, "%s is there already", f.path(name)).WithHint("give another name, or wait a second")
	}
	temp, err := file.Begin(f.path(name))
	if err != nil {
		return f.failed(op, err)
	}
	defer os.Remove(temp.Name()) // gone by then, if all went well
	defer temp.Close()
	f.Crash.At("depot.begun")
	if err := write(stopping{ctx, temp}); err != nil {
		return f.unlessOurs(op, err)
	}
	if err := temp.Sync(); err != nil {
		return f.failed(op, err)
	}
	f.Crash.At("depot.written")
	forget(temp)
	if _, err := temp.Seek(0, io.SeekStart); err != nil {
		return f.failed(op, err)
	}
	if err := check(temp); err != nil {
		return f.unlessOurs(op, err)
	}
	if err := ctx.Err(); err != nil {
		return f.failed(op, err)
	}
	if err := os.Rename(temp.Name(), f.path(name)); err != nil {
		return f.failed(op, err)
	}
	f.Crash.At("depot.renamed")
	return f.sync(op)
}

// stopping fails when its context has ended.
type stopping struct {
	ctx context.Context
	w   io.Writer
}

func (s stopping) Write(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.w.Write(b)
}

// unlessOurs gives an error a code that has none.
func (f Folder) unlessOurs(op string, err error) error {
	if _, ours := errors.AsType[*protocol.Error](err); ours {
		return err
	}
	return f.failed(op, err)
}

func (f Folder) failed(op string, err error) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return protocol.Errorf(protocol.CodeTimeout, op, "%s: %w", f.Dir, err).WithHint("nothing is left of it; try again")
	case errors.Is(err, fs.ErrPermission):
		return protocol.Errorf(protocol.CodeDenied, op, "%w", err).WithHint("the folder %s must belong to who writes there", f.Dir)
	case errors.Is(err, syscall.EROFS):
		return protocol.Errorf(protocol.CodeDenied, op, "%w", err).
			WithHint("%s is mounted read-only, or systemd keeps the hub's unit out of it: ReadWritePaths=%s in a drop-in of rackboot-hub.service", f.Dir, f.Dir)
	case errors.Is(err, fs.ErrNotExist):
		return protocol.Errorf(protocol.CodeNotFound, op, "%w", err).WithHint("check that the folder %s is there, and mounted", f.Dir)
	}
	return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err).WithHint("look at the space and the disk of %s", f.Dir)
}

func (f Folder) sync(op string) error {
	d, err := os.Open(f.Dir)
	if err != nil {
		return f.failed(op, err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return f.failed(op, err)
	}
	return nil
}

// Open implements Place.
func (f Folder) Open(_ context.Context, name string) (io.ReadCloser, error) {
	r, err := os.Open(f.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, protocol.Errorf(protocol.CodeNotFound, "read backup", "%w", err).WithHint("rackctl backup list %s shows what is there", f.Dir)
	}
	if err != nil {
		return nil, f.failed("read backup", err)
	}
	return r, nil
}

// List implements Place.
func (f Folder) List(context.Context) ([]Kept, error) {
	const op = "list backups"
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return nil, f.failed(op, err)
	}
	var list []Kept
	for _, e := range entries {
		made, ok := MadeAt(e.Name())
		if !ok || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // it went just now
		}
		if err != nil {
			return nil, f.failed(op, err)
		}
		list = append(list, Kept{Name: e.Name(), Size: info.Size(), Made: made})
	}
	Sort(list)
	return list, nil
}

// Remove implements Place.
func (f Folder) Remove(_ context.Context, name string) error {
	const op = "remove backup"
	if err := os.Remove(f.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f.failed(op, err)
	}
	return f.sync(op)
}

// Sweep implements Place.
func (f Folder) Sweep(context.Context) error {
	const op = "sweep backups"
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return f.failed(op, err)
	}
	for _, e := range entries {
		if _, ok := MadeAt(file.Of(e.Name())); !ok || !e.Type().IsRegular() {
			continue
		}
		if err := os.Remove(f.path(e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return f.failed(op, err)
		}
	}
	return nil
}
