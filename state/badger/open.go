package badger

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
	"rackboot/state"
)

// schemaVersion is the version of the key layout described in doc.go.
const schemaVersion = 1

const schemaKey = "meta/schema"

// MaxKey and MaxValue bound one entry in bytes.
const (
	MaxKey   = 4 << 10
	MaxValue = 512 << 10
)

// Sizes in bytes, chosen for an agent whose whole resident set is to stay
// below 64 MiB.
const (
	memTableSize   = 4 << 20
	baseTableSize  = 2 << 20
	valueLogSize   = 1 << 20 // unused, see doc.go; the least that Badger takes
	defaultMinFree = 128 << 20
)

// Config says where the store lives.
type Config struct {
	// Dir is created if it does not exist. Only one process may open it.
	Dir string
	// InMemory keeps everything in memory and ignores Dir; for tests.
	InMemory bool
	// MinFree is how many bytes must be free on the file system for a write to
	// be tried; 0 is 128 MiB. It covers what Badger still writes behind a write
	// that was accepted: with our settings at most 12 MiB of memtables, and two
	// compactions of some 50 and 30 MiB, never more than the store's own size.
	MinFree int64
	// Logger receives Badger's messages; nil discards.
	Logger *slog.Logger
	// Registerer receives the metrics; nil is none.
	Registerer prometheus.Registerer
	// Crash is asked at the crash points; nil in production.
	Crash state.Crasher
}

// Store is a state.Store. All methods are safe for concurrent use.
type Store struct {
	cfg     Config
	dir     *os.File // of cfg.Dir; nil in memory
	db      *badger.DB
	metrics *metrics

	write sync.Mutex // held by the one writing transaction

	queue   chan *call
	closing chan struct{}
	stopped chan struct{} // closed when the committer has returned

	life    sync.Mutex // guards closed, and running.Add against running.Wait
	closed  bool
	running sync.WaitGroup
}

var _ state.Store = (*Store)(nil)

// Open opens the store in cfg.Dir or creates it. Errors: conflict (another
// process has it), unsupported (a newer schema), unavailable (too little space),
// internal (damaged).
func Open(cfg Config) (*Store, error) {
	const op = "open store"
	if cfg.Dir == "" && !cfg.InMemory {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "no directory is given")
	}
	if cfg.MinFree == 0 {
		cfg.MinFree = defaultMinFree
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Store{
		cfg:     cfg,
		queue:   make(chan *call, maxQueue),
		closing: make(chan struct{}),
		stopped: make(chan struct{}),
	}
	if !cfg.InMemory {
		if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
			return nil, s.mapError(op, err)
		}
		if err := s.checkSpace(op); err != nil {
			return nil, err
		}
		var err error
		if s.dir, err = os.Open(cfg.Dir); err != nil {
			return nil, s.mapError(op, err)
		}
	}
	db, err := s.open()
	if err != nil {
		return nil, errors.Join(s.mapError(op, err), s.closeDir())
	}
	s.db = db
	if err := s.ready(op); err != nil {
		return nil, errors.Join(err, db.Close(), s.closeDir())
	}
	go s.commitLoop()
	return s, nil
}

// ready prepares a store that is open.
func (s *Store) ready(op string) (err error) {
	if err := s.inPlace(op); err != nil {
		return err
	}
	if err := s.initSchema(op); err != nil {
		return err
	}
	if s.metrics, err = newMetrics(s.cfg.Registerer, func() int { return len(s.queue) }); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

// inPlace refuses a store whose directory is another one by now.
func (s *Store) inPlace(op string) error {
	if s.dir == nil {
		return nil
	}
	own, err := s.dir.Stat()
	if err == nil {
		var now os.FileInfo
		if now, err = os.Stat(s.cfg.Dir); err == nil && os.SameFile(own, now) {
			return nil
		}
	}
	return protocol.Errorf(protocol.CodeUnavailable, op, "the directory %s was replaced while it was opened: %w", s.cfg.Dir, errors.Join(err, errReplaced)).
		WithHint("open it again")
}

var errReplaced = errors.New("it is another directory now")

func (s *Store) closeDir() error {
	if s.dir == nil {
		return nil
	}
	return s.dir.Close()
}

func (s *Store) open() (db *badger.DB, err error) {
	defer recovered("open", &err)
	if !s.cfg.InMemory {
		if err := checkFiles(s.cfg.Dir); err != nil {
			return nil, err
		}
	}
	return badger.Open(s.options())
}

func (s *Store) options() badger.Options {
	dir := ""
	if s.dir != nil {
		dir = byDescriptor("/proc/self/fd", s.dir)
	}
	return badger.DefaultOptions(dir).
		WithInMemory(s.cfg.InMemory).
		WithLogger(logger{s.cfg.Logger}).
		WithMetricsEnabled(false).
		WithSyncWrites(true).
		WithDetectConflicts(false). // writers are serial, see doc.go
		WithMemTableSize(memTableSize).
		WithNumMemtables(2).
		WithBaseTableSize(baseTableSize).
		WithNumCompactors(2).
		WithNumLevelZeroTables(3). // these two bound one compaction, see MinFree
		WithNumLevelZeroTablesStall(8).
		WithCompression(options.None). // so that tables are read from the mapping, uncached
		WithBlockCacheSize(0).
		WithIndexCacheSize(0).
		WithValueLogFileSize(valueLogSize).
		WithValueThreshold(MaxValue + 1)
}

// byDescriptor is a path that stays with a directory. Badger opens one file after the other by its path: whoever puts a copy
// of the store into its place meanwhile would give it some of each, and what it writes then is in neither. Where there is no
// /proc, as in a chroot that has none, it is the path that the directory was opened by; what was replaced is noticed after opening then.
func byDescriptor(proc string, dir *os.File) string {
	path := filepath.Join(proc, strconv.Itoa(int(dir.Fd())))
	if _, err := os.Stat(path); err != nil {
		return dir.Name()
	}
	return path
}

// initSchema writes the schema version into a new directory and refuses a
// newer one.
func (s *Store) initSchema(op string) error {
	err := s.db.Update(func(txn *badger.Txn) error {
		item, err := txn.Get([]byte(schemaKey))
		if errors.Is(err, badger.ErrKeyNotFound) {
			return txn.Set([]byte(schemaKey), []byte(strconv.Itoa(schemaVersion)))
		}
		if err != nil {
			return err
		}
		v, err := item.ValueCopy(nil)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(v))
		if err != nil || n < 1 {
			return protocol.Errorf(protocol.CodeInternal, op, "the store in %s has schema version %q", s.cfg.Dir, v)
		}
		if n > schemaVersion {
			return protocol.Errorf(protocol.CodeUnsupported, op, "the store in %s has schema version %d; this release knows up to %d", s.cfg.Dir, n, schemaVersion).
				WithHint("start the release that wrote it, or a newer one")
		}
		return nil
	})
	return s.mapError(op, err)
}

// enter keeps the store open until leave is called.
func (s *Store) enter(op string) error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.closed {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", state.ErrClosed)
	}
	s.running.Add(1)
	return nil
}

func (s *Store) leave() { s.running.Done() }

// Close waits for the calls that have begun, Batch included, and closes the
// directory; later calls get ErrClosed. A second Close does nothing.
func (s *Store) Close() error {
	s.life.Lock()
	was := s.closed
	s.closed = true
	s.life.Unlock()
	if was {
		return nil
	}
	s.running.Wait()
	close(s.closing)
	<-s.stopped
	return s.mapError("close store", errors.Join(s.db.Close(), s.closeDir()))
}
