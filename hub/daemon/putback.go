package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"rackboot/hub/backup"
	"rackboot/hub/broker"
	"rackboot/protocol"
	"rackboot/protocol/backupfile"
	"rackboot/state"
	"rackboot/state/clock"
	"rackboot/state/file"
	"rackboot/state/jetstream"
)

const opRestore = "restore"

// Restoring says what is restored, and how.
type Restoring struct {
	// Open opens the backup; it is read twice, first to verify all of it.
	Open func() (io.ReadCloser, error)
	// Keys open one that is encrypted.
	Keys []backupfile.Identity
	// Replace puts it in the place of a folder that has something, which is moved aside.
	Replace bool
	Crash   state.Crasher // nil in production
}

// Restored says what was restored.
type Restored struct {
	Manifest backupfile.Manifest
	Epoch    uint64
	// Aside is where the folder is that was there before; empty if nothing was.
	Aside string
	// Misplaced are folders in the hub's folder, with uploaded files or images, that the hub's file has
	// elsewhere.
	Misplaced []string
}

// The hub's folder is made beside its place, and takes that in one step when all of it is on disk:
//
//	NAME                 the hub's folder
//	NAME.restoring       the one that is being made; while [unfinished] is in it, nobody needs it
//	NAME.before-TIME     the one that was there
//
// Whoever is killed leaves NAME as it was before, or whole and new. Killed right after the exchange,
// the old folder is NAME.restoring, without that file; the next restore moves it aside.
const (
	restoringSuffix = ".restoring"
	unfinished      = ".unfinished"
	asideLayout     = "20060102T150405Z"
)

// Restore makes the hub's folder of a backup, and its documents newer than those that agents have. No
// hub may run on the folder, and none may be started before it returns. Errors: invalid for a backup
// that is not whole, conflict where the folder has something or is used, denied, unavailable.
func Restore(ctx context.Context, c Config, r Restoring) (out Restored, err error) {
	if c.DataDir, err = filepath.Abs(c.DataDir); err != nil {
		return out, err
	}
	if c.Store.NATS != nil {
		return out, protocol.Errorf(protocol.CodeUnsupported, opRestore, "store.nats is set, and a backup is restored into a folder").
			WithHint("restore with a hub's file without store.nats, then put that back and run rackboot-hub migrate nats")
	}
	used, err := occupied(c.DataDir)
	if err != nil {
		return out, err
	}
	if used {
		if !r.Replace {
			return out, protocol.Errorf(protocol.CodeConflict, opRestore, "%s is not empty", c.DataDir).
				WithHint("with --replace it is moved aside, to %s.before-TIME", c.DataDir)
		}
		unlock, err := keepOut(c)
		if err != nil {
			return out, err
		}
		defer unlock()
	}
	m, err := r.verify()
	if err != nil {
		return out, err
	}
	stage := c
	stage.DataDir = c.DataDir + restoringSuffix
	if err := clear(stage.DataDir, c.DataDir); err != nil {
		return out, err
	}
	r.Crash.At("restore.verified")
	if out, err = r.make(ctx, stage, m); err != nil {
		_ = os.RemoveAll(stage.DataDir) // the error says more
		return out, err
	}
	if out.Aside, err = r.exchange(stage.DataDir, c.DataDir, used); err != nil {
		return out, err
	}
	for name, dir := range map[string]string{folderISOs: c.isosDir(), folderRegistry: c.registryDir()} {
		if _, err := os.Stat(c.path(name)); err == nil && dir != c.path(name) {
			out.Misplaced = append(out.Misplaced, c.path(name))
		}
	}
	slices.Sort(out.Misplaced)
	return out, nil
}

// keepOut locks the store of the folder that is replaced, if it has one. A hub that runs on it holds it.
func keepOut(c Config) (unlock func(), err error) {
	if _, err := os.Stat(c.path("store")); errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	lock, err := broker.Lock(c.path("store"))
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeConflict, opRestore, "%w", err).WithHint("stop the hub first: systemctl stop rackboot-hub")
	}
	return func() { _ = lock.Close() }, nil
}

// occupied reports whether a folder has something.
func occupied(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case errors.Is(err, fs.ErrPermission):
		return false, protocol.Errorf(protocol.CodeDenied, opRestore, "%w", err).WithHint("run it as root: put sudo before the command")
	case err != nil:
		return false, protocol.Errorf(protocol.CodeInvalid, opRestore, "%w", err).WithHint("dataDir of the hub's file must be a folder")
	}
	return len(entries) > 0, nil
}

// verify reads all of the backup, and takes nothing of it.
func (r Restoring) verify() (m backupfile.Manifest, err error) {
	err = r.read(func(in io.Reader) (err error) {
		m, err = backupfile.Read(in, r.Keys, func(name string, _ int64, _ io.Reader) error { return expected(name) })
		return err
	})
	if err != nil {
		return m, err
	}
	var names []string
	for _, s := range m.Streams {
		names = append(names, s.Name)
	}
	if !reflect.DeepEqual(names, []string{streamKV, streamLog}) {
		return m, foreign("it has the streams %q", names)
	}
	for _, name := range []string{backup.PartName("store/"+streamKV, 1), backup.PartName("store/"+streamLog, 1), folderPKI + "/ca.pem", folderPKI + "/signing.pem"} {
		if !slices.ContainsFunc(m.Members, func(f backupfile.Member) bool { return f.Name == name }) {
			return m, protocol.Errorf(protocol.CodeInvalid, opRestore, "the backup has no %s, without which there is no hub", name).WithHint("use another backup")
		}
	}
	return m, nil
}

func (r Restoring) read(do func(io.Reader) error) error {
	in, err := r.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	return do(in)
}

func foreign(format string, args ...any) error {
	return protocol.Errorf(protocol.CodeUnsupported, opRestore, format, args...).WithHint("use the release that wrote the backup, or a newer one")
}

// expected refuses members that this release would not know where to put.
func expected(name string) error {
	top, rest, deep := strings.Cut(name, "/")
	switch {
	case !deep && (name == caCopy || name == hubKeyFile):
		return nil
	case deep && (top == folderPKI || top == folderAudit && backup.Segments(rest)) && !strings.Contains(rest, "/"):
		return nil
	case deep && (top == folderISOs || top == folderRegistry):
		return nil
	case deep && top == "store" && (strings.HasPrefix(rest, streamKV+"/") || strings.HasPrefix(rest, streamLog+"/")):
		return nil
	}
	return foreign("a hub's folder has no %s", name)
}

// clear takes away what an earlier restore has left beside the folder.
func clear(stage, target string) error {
	_, err := os.Lstat(filepath.Join(stage, unfinished))
	if errors.Is(err, fs.ErrNotExist) {
		entries, err := os.ReadDir(stage)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && len(entries) > 0 {
			return moveAside(stage, target, new(string))
		}
	}
	if err := os.RemoveAll(stage); err != nil {
		return trouble(err)
	}
	return nil
}

// moveAside names a folder for the time now.
func moveAside(from, target string, to *string) error {
	for at := clock.Now().UTC(); ; at = at.Add(time.Second) {
		*to = target + ".before-" + at.Format(asideLayout)
		if _, err := os.Lstat(*to); errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err := errors.Join(os.Rename(from, *to), syncDir(filepath.Dir(target))); err != nil {
		return trouble(err)
	}
	return nil
}

func trouble(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission):
		return protocol.Errorf(protocol.CodeDenied, opRestore, "%w", err).WithHint("run it as root: the folder in which dataDir lies must be written to")
	case errors.Is(err, syscall.EBUSY), errors.Is(err, syscall.EXDEV):
		return protocol.Errorf(protocol.CodeUnsupported, opRestore, "%w", err).
			WithHint("dataDir is a file system of its own, which cannot be replaced: let dataDir be a folder in it, and restore into that")
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, syscall.EINVAL):
		return protocol.Errorf(protocol.CodeUnsupported, opRestore, "this file system does not exchange folders: %w", err).
			WithHint("move dataDir away yourself, and restore without --replace")
	}
	return protocol.Errorf(protocol.CodeUnavailable, opRestore, "%w", err).WithHint("look at the space and the disk where dataDir lies; the hub's folder is as it was")
}

// make makes the folder of the stage, to which no hub has ever belonged, and syncs all of it.
func (r Restoring) make(ctx context.Context, stage Config, verified backupfile.Manifest) (out Restored, err error) {
	if err := os.Mkdir(stage.DataDir, 0o700); err != nil {
		return out, trouble(err)
	}
	if err := os.WriteFile(filepath.Join(stage.DataDir, unfinished), nil, 0o600); err != nil {
		return out, trouble(err)
	}
	if err := errors.Join(syncDir(stage.DataDir), syncDir(filepath.Dir(stage.DataDir))); err != nil {
		return out, trouble(err)
	}
	r.Crash.At("restore.begun")
	if out.Manifest, err = r.unpack(ctx, stage); err != nil {
		return out, err
	}
	if !reflect.DeepEqual(out.Manifest, verified) {
		return out, protocol.Errorf(protocol.CodeConflict, opRestore, "the backup changed while it was read").WithHint("try again when nobody writes it")
	}
	r.Crash.At("restore.unpacked")
	if out.Epoch, err = RaiseEpoch(ctx, stage); err != nil {
		return out, err
	}
	if err := syncTree(stage.DataDir); err != nil {
		return out, trouble(err)
	}
	r.Crash.At("restore.raised")
	return out, nil
}

// unpack writes the members of the backup below the stage, and makes the streams.
func (r Restoring) unpack(ctx context.Context, stage Config) (m backupfile.Manifest, err error) {
	b, err := broker.Open(broker.Config{Dir: stage.path("store"), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return m, err
	}
	defer b.Close()
	s := &streams{ctx: ctx, broker: b, made: map[string]jetstream.Copied{}}
	defer s.stop()
	err = r.read(func(in io.Reader) (err error) {
		m, err = backupfile.Read(in, r.Keys, func(name string, _ int64, data io.Reader) error {
			if err := errors.Join(ctx.Err(), expected(name)); err != nil {
				return err
			}
			if stream, ok := strings.CutPrefix(name, "store/"); ok {
				stream, _, _ = strings.Cut(stream, "/")
				return s.write(stream, data)
			}
			return writeFile(stage.path(filepath.FromSlash(name)), data)
		})
		return err
	})
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return m, err
	}
	for _, want := range m.Streams {
		got := backupfile.Stream(s.made[want.Name])
		if got.First != want.First || got.Last != want.Last || got.Messages != want.Messages || !maps.Equal(got.Kinds, want.Kinds) {
			return m, protocol.Errorf(protocol.CodeInvalid, opRestore, "of %s there are %d messages up to %d now, and there were %d up to %d", want.Name, got.Messages, got.Last, want.Messages, want.Last).
				WithHint("report it; use another backup")
		}
	}
	return m, nil
}

// writeFile makes a file for the hub alone, and puts it on disk.
func writeFile(path string, data io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return trouble(err)
	}
	mode := fs.FileMode(0o600)
	if base := filepath.Base(path); base == caCopy && filepath.Base(filepath.Dir(path)) != folderPKI || base == hubKeyFile {
		mode = 0o644
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return trouble(err)
	}
	_, err = io.Copy(f, data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return trouble(err)
	}
	return nil
}

// streams makes the streams of a store, one after the other.
type streams struct {
	ctx    context.Context
	broker *broker.Broker
	made   map[string]jetstream.Copied

	name string // of the one that is being made
	pipe *io.PipeWriter
	done chan error
}

// write gives a stream more of its copy.
func (s *streams) write(name string, data io.Reader) error {
	if name != s.name {
		if err := s.end(); err != nil {
			return err
		}
		if err := s.begin(name); err != nil {
			return err
		}
	}
	if _, err := io.Copy(s.pipe, data); err != nil {
		if wrong := s.end(); wrong != nil {
			return wrong // which says why nobody reads any more
		}
		return err
	}
	return nil
}

func (s *streams) begin(name string) error {
	conn, err := s.broker.Conn(s.ctx)
	if err != nil {
		return err
	}
	r, w := io.Pipe()
	s.name, s.pipe, s.done = name, w, make(chan error, 1)
	go func() {
		defer conn.Close()
		copied, err := jetstream.Restore(s.ctx, jetstream.Config{Conn: conn, Name: name}, r)
		_ = r.CloseWithError(errors.Join(err, io.ErrClosedPipe)) // never fails
		s.made[name] = copied
		s.done <- err
	}()
	return nil
}

// end waits until the stream that is being made is there.
func (s *streams) end() error {
	if s.pipe == nil {
		return nil
	}
	_ = s.pipe.Close() // never fails
	err := <-s.done
	s.pipe = nil
	return err
}

// stop leaves a stream that is being made.
func (s *streams) stop() {
	if s.pipe != nil {
		_ = s.pipe.CloseWithError(io.ErrUnexpectedEOF) // never fails
		<-s.done
		s.pipe = nil
	}
}

// exchange puts the stage in the place of the hub's folder, and returns where that is then. Where it
// cannot, the stage is gone.
func (r Restoring) exchange(stage, target string, used bool) (aside string, err error) {
	err = takeOver(stage, target)
	if err == nil {
		err = errors.Join(os.Remove(filepath.Join(stage, unfinished)), syncDir(stage))
	}
	r.Crash.At("restore.finished")
	switch {
	case err != nil:
	case used:
		err = file.Exchange(stage, target)
	default:
		err = syscall.Rename(stage, target) // onto an empty folder, which os.Rename refuses, or nothing
	}
	if err != nil {
		_ = os.RemoveAll(stage) // the error says more
		return "", trouble(err)
	}
	r.Crash.At("restore.exchanged")
	if err := syncDir(filepath.Dir(target)); err != nil {
		return "", trouble(err)
	}
	if used {
		err = moveAside(stage, target, &aside)
	}
	r.Crash.At("restore.aside")
	return aside, err
}

// takeOver gives the stage to the user whom the hub's folder belongs to, as only root can.
func takeOver(stage, target string) error {
	info, err := os.Stat(target)
	if errors.Is(err, fs.ErrNotExist) || os.Geteuid() != 0 {
		return nil
	}
	if err != nil {
		return trouble(err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return trouble(errors.Join(os.Chmod(stage, info.Mode().Perm()), filepath.WalkDir(stage, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, int(owner.Uid), int(owner.Gid)))
	})))
}

// syncTree puts all that is below a folder on disk.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, syncDir(path))
	})
}

// syncDir puts a folder, or a file, on disk.
func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Spool writes what is read once to a file beside the hub's folder, so that it can be read twice. remove
// takes it away. Errors: as of Restore.
func Spool(c Config, r io.Reader) (open func() (io.ReadCloser, error), remove func(), err error) {
	f, err := os.CreateTemp(filepath.Dir(c.DataDir), filepath.Base(c.DataDir)+restoringSuffix+"-*") // mode 0600
	if err != nil {
		return nil, nil, trouble(err)
	}
	remove = func() { _ = os.Remove(f.Name()) }
	if _, err := io.Copy(f, r); err != nil {
		_ = f.Close()
		remove()
		if _, ours := errors.AsType[*protocol.Error](err); ours {
			return nil, nil, err
		}
		return nil, nil, trouble(fmt.Errorf("while the backup was read: %w", err))
	}
	if err := f.Close(); err != nil {
		remove()
		return nil, nil, trouble(err)
	}
	return func() (io.ReadCloser, error) { return os.Open(f.Name()) }, remove, nil
}
