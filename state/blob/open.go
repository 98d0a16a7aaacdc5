package blob

import (
	"cmp"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/file"
)

const tmpPrefix = "tmp-"

// Config says where the blobs live and how much room they have.
type Config struct {
	// Dir is created if it does not exist. Only one process may open it.
	Dir string
	// Quota bounds all blobs together, in bytes; 0 is no bound but the disk.
	Quota int64
	// MinFree is how many bytes of the file system a write leaves alone. Where
	// the agent's store is on the same one, it should be more than that store's.
	MinFree int64
	// Block is the room that files are given in, in bytes: a blob takes whole blocks, and one
	// more for what describes it. It bounds the number of blobs too. 0 counts bytes alone.
	Block int64
	// Keep is set where blobs go by Remove alone: nothing is removed to make room.
	Keep bool
	// Evicted is told of each blob that is removed to make room, in place of the log; nil is
	// the log. It must not call the Store.
	Evicted func(digest string)
	// Logger receives a line for each blob removed; nil discards.
	Logger *slog.Logger
	// Registerer receives the metrics; nil is none.
	Registerer prometheus.Registerer
	// Crash is asked at the crash points; nil in production.
	Crash state.Crasher
}

// Store holds the blobs of one directory. All methods are safe for concurrent
// use.
type Store struct {
	cfg     Config
	dir     *os.File // holds the lock, and is fsynced after a rename
	metrics *metrics

	mu      sync.Mutex
	room    room
	writing map[string]chan struct{}
}

// Open opens the directory, or creates it, and removes what a crash left of
// writes. It reads no blob; Verify does. Errors: invalid, conflict (another
// process has it), internal.
func Open(cfg Config) (*Store, error) {
	const op = "open blobs"
	if cfg.Dir == "" || cfg.Quota < 0 || cfg.MinFree < 0 || cfg.Block < 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "directory %q, quota %d, least free %d: one is missing or negative", cfg.Dir, cfg.Quota, cfg.MinFree)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	dir, err := os.Open(cfg.Dir)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	s := &Store{
		cfg:     cfg,
		dir:     dir,
		room:    newRoom(cfg.Block),
		writing: map[string]chan struct{}{},
	}
	if err := s.load(op); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	if s.metrics, err = newMetrics(cfg.Registerer, s); err != nil {
		return nil, errors.Join(protocol.Errorf(protocol.CodeInternal, op, "%w", err), dir.Close())
	}
	return s, nil
}

func (s *Store) load(op string) error {
	err := syscall.Flock(int(s.dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return protocol.Errorf(protocol.CodeConflict, op, "another process has the blobs in %s open", s.cfg.Dir).
			WithHint("stop the other process; lsof %s names it", s.cfg.Dir)
	}
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "lock %s: %w", s.cfg.Dir, err)
	}
	files, err := os.ReadDir(s.cfg.Dir)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	var found []fs.FileInfo
	for _, f := range files {
		part, mark, isPart := partName(f.Name())
		switch {
		case isPart && f.Type().IsRegular():
			if err := s.loadPart(f, part, mark); err != nil {
				return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
			}
		case strings.HasPrefix(f.Name(), tmpPrefix), file.Unfinished(f.Name()):
			if err := os.Remove(s.path(f.Name())); err != nil {
				return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
			}
		case isName(f.Name()) && f.Type().IsRegular():
			info, err := f.Info()
			if err != nil {
				return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
			}
			found = append(found, info)
		default:
			s.cfg.Logger.Warn("file is no blob, left alone", "path", s.path(f.Name()))
		}
	}
	slices.SortFunc(found, func(a, b fs.FileInfo) int { return cmp.Compare(accessTime(a), accessTime(b)) })
	for _, f := range found {
		s.room.add(f.Name(), f.Size())
	}
	return nil
}

// loadPart counts what is there of a blob that is not complete, and removes the mark of
// one that is complete or gone.
func (s *Store) loadPart(f fs.DirEntry, name string, mark bool) error {
	if mark {
		_, err := os.Lstat(s.path(partPrefix + name))
		if errors.Is(err, fs.ErrNotExist) {
			return os.Remove(s.path(f.Name()))
		}
		return err
	}
	info, err := f.Info()
	if err == nil {
		s.count(name, info.Size())
	}
	return err
}

// accessTime is in nanoseconds; see doc.go.
func accessTime(f fs.FileInfo) int64 {
	st, ok := f.Sys().(*syscall.Stat_t)
	if !ok {
		return f.ModTime().UnixNano()
	}
	return st.Atim.Nano()
}

func (s *Store) path(name string) string { return filepath.Join(s.cfg.Dir, name) }

// Close gives up the directory. Files that Open handed out stay readable.
func (s *Store) Close() error {
	if err := s.dir.Close(); err != nil {
		return protocol.Errorf(protocol.CodeInternal, "close blobs", "%w", err)
	}
	return nil
}
