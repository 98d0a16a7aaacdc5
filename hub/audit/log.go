package audit

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
	"rackboot/protocol/auditlog"
	"rackboot/protocol/wire"
	"rackboot/state"
)

// The defaults.
const (
	segmentBytes    = 8 << 20
	checkpointEvery = 1000 // entries
	checkpointAfter = 10 * time.Minute
)

const (
	// maxWaiting bounds the entries that wait to be written; more are refused.
	maxWaiting = 1024
	// maxBatch bounds the entries that share an fsync.
	maxBatch = 256
)

// Config is what a Log needs. Logger may be nil.
type Config struct {
	Dir        string
	Signer     *wire.Signer
	Clock      state.Clock
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	Crash      state.Crasher // nil in production
	// Keys are believed besides that of Signer: those that the hub signed with before.
	Keys []ed25519.PublicKey
	// SegmentBytes is the size from which on a new segment is begun; 0 is 8 MiB.
	SegmentBytes int64
	// CheckpointEvery is how many entries may follow the last signed one; 0 is 1000.
	// CheckpointAfter is how long they may; 0 is 10 min.
	CheckpointEvery int
	CheckpointAfter time.Duration
	// Heads keeps the head elsewhere, so that a log that was shortened is known by it; nil does
	// not.
	Heads Heads
	// Hub is this hub's name among those that share its store, which checkpoints and exports say; empty of one that is
	// alone. Others are the ends of the other hubs' logs as they are known now; before is what was signed of them last.
	// It does not wait. Nil is none.
	Hub    string
	Others func(before []auditlog.Head) []auditlog.Head
}

// Log is an open audit log. It is safe for concurrent use; of all logs and processes,
// only one may have a folder open.
type Log struct {
	cfg     Config
	log     *slog.Logger
	keys    *auditlog.Keys
	metrics *metrics
	create  func(path string) (segmentFile, error)

	queue   chan *pending
	breaks  chan beginning // found by Check
	stop    chan struct{}
	stopped chan struct{}
	closing sync.Once

	has    *contents
	keeper *keeper

	// Of the writer alone:
	file    segmentFile
	due     *beginning      // the segment that must begin before anything is written
	spoilt  bool            // the file may hold bytes after the last segment's size
	failing bool            // the last write failed
	others  []auditlog.Head // that were signed last
}

// Open opens the log in its folder, or begins one, and checks its newest segment.
//
// Errors: invalid for an incomplete Config; unavailable if the folder cannot be made or
// read, or the kept head cannot. A log that is broken, or lost a part, and a disk that is full, are
// no errors of Open.
func Open(cfg Config) (*Log, error) {
	if cfg.Dir == "" || cfg.Signer == nil || cfg.Signer.Public() == nil || cfg.Clock == nil || cfg.Registerer == nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "open audit log", "Dir, Signer, Clock and Registerer are required")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.SegmentBytes <= 0 {
		cfg.SegmentBytes = segmentBytes
	}
	if cfg.CheckpointEvery <= 0 {
		cfg.CheckpointEvery = checkpointEvery
	}
	if cfg.CheckpointAfter <= 0 {
		cfg.CheckpointAfter = checkpointAfter
	}
	l := &Log{
		cfg: cfg, log: cfg.Logger, create: createFile, has: &contents{broken: map[string]string{}},
		keys:  auditlog.NewKeys(append(slices.Clip(cfg.Keys), cfg.Signer.Public())...),
		queue: make(chan *pending, maxWaiting), breaks: make(chan beginning), stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	l.keeper = &keeper{heads: cfg.Heads, log: cfg.Logger, has: l.has, written: l.stopped, done: make(chan struct{})}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, l.failed("create its folder", err)
	}
	if err := l.load(); err != nil {
		return nil, err
	}
	if err := l.compare(); err != nil {
		if l.file != nil {
			_ = l.file.Close()
		}
		return nil, err
	}
	l.metrics = newMetrics(l)
	if err := cfg.Registerer.Register(l.metrics); err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "open audit log", "%w", err)
	}
	if l.due != nil {
		if err := l.begin(); err != nil {
			l.fail(err)
		}
	}
	go l.run()
	if cfg.Heads == nil {
		close(l.keeper.done)
	} else {
		go l.keeper.run()
	}
	return l, nil
}

// Head is the last entry that is on disk; its Seq is 0 before the first.
func (l *Log) Head() (seq uint64, hash string) {
	h := l.has.last()
	return h.seq, h.hash
}

// Broken says of each segment that does not fit together why, by its name.
func (l *Log) Broken() map[string]string {
	l.has.mu.RLock()
	defer l.has.mu.RUnlock()
	return maps.Clone(l.has.broken)
}

// Close signs what was written, and closes the file. Entries that still wait are
// written first; later ones are refused as unavailable. It leaves the metrics
// registered.
func (l *Log) Close() error {
	l.closing.Do(func() { close(l.stop) })
	<-l.stopped
	<-l.keeper.done
	l.cfg.Registerer.Unregister(l.metrics)
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// Append writes an entry; it is on disk when Append returns, with the number, time and
// hashes that it got. Texts that are too long are cut.
//
// Errors: invalid for one of the log's own operations and for an unknown outcome; unavailable if it cannot be
// written; timeout if ctx ends first, and then it may be written all the same.
func (l *Log) Append(ctx context.Context, e protocol.AuditEntry) (protocol.AuditEntry, error) {
	const op = "append to audit log"
	if e.Op == "" || protocol.AuditOwn(e.Op) {
		return protocol.AuditEntry{}, protocol.Errorf(protocol.CodeInvalid, op, "%q is no operation of a caller", e.Op)
	}
	if !slices.Contains(protocol.AuditOutcomes(), e.Outcome) {
		return protocol.AuditEntry{}, protocol.Errorf(protocol.CodeInvalid, op, "%q is no outcome", e.Outcome)
	}
	began := time.Now()
	p := &pending{entry: e, done: make(chan struct{})}
	select {
	case l.queue <- p:
	default:
		l.metrics.failures.Inc()
		return protocol.AuditEntry{}, protocol.Errorf(protocol.CodeUnavailable, op, "%d entries wait to be written", maxWaiting).
			WithHint("the hub's disk is too slow for what is asked of it; try again")
	}
	select {
	case <-p.done:
	case <-l.stopped:
		select {
		case <-p.done: // by the last batch
		default:
			return protocol.AuditEntry{}, protocol.Errorf(protocol.CodeUnavailable, op, "the hub is stopping").WithHint("try again when it has started")
		}
	case <-ctx.Done():
		return protocol.AuditEntry{}, protocol.Errorf(protocol.CodeTimeout, op, "the entry was not written in time: %w", context.Cause(ctx)).
			WithHint("it may be in the log all the same; if this goes on, look at the hub's disk")
	}
	l.metrics.seconds.Observe(time.Since(began).Seconds())
	return p.entry, p.err
}

func (l *Log) failed(what string, err error) *protocol.Error {
	return protocol.Errorf(protocol.CodeUnavailable, "write audit log", "cannot %s, %s: %w", what, l.cfg.Dir, err).
		WithHint("free space on the hub's disk, or move old segments away after rackctl audit export; nothing is changed that cannot be recorded. It goes on by itself")
}
