package loaders

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot/chain"
	"rackboot/protocol"
	"rackboot/state"
)

const (
	// lookEvery is the pause between two looks at the folders; settle is that before the
	// look which must agree with the one that saw a change.
	lookEvery = 20 * time.Second
	settle    = 5 * time.Second
	// keepOld is how long the loaders of a set that was replaced are kept: longer than
	// a boot lasts from its begin to its last report.
	keepOld = 4 * time.Hour
	// writeTimeout bounds writing one loader to the blob store.
	writeTimeout = time.Minute
)

// Blobs keeps the loaders' files. It is safe for concurrent use.
type Blobs interface {
	Has(digest string) bool
	Write(ctx context.Context, digest string, size int64, r io.Reader) error
	Verify(ctx context.Context, digest string) error
	Pin(digest string) error
	Unpin(digest string) error
}

// Store keeps which loaders are in use. It is on disk when Put returns.
type Store interface {
	InUse() (set chain.Set, err error)
	Put(set chain.Set) error
}

// Config is what New needs.
type Config struct {
	// Folders are looked through for each architecture, in Go's words, in order: the
	// first folder that has a file for a role gives it.
	Folders map[string][]string
	Blobs   Blobs
	Store   Store
	// Changed is called when another set is in use; Failed with why one is not taken, and
	// with nil when that is over. They must not block.
	Changed    func()
	Failed     func(error)
	Clock      state.Clock
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// Loaders is safe for concurrent use.
type Loaders struct {
	cfg Config
	met *metrics

	mu  sync.RWMutex
	set chain.Set

	// Of Run only.
	seen   chain.Set // by the last look, if it is to be taken
	stamp  string    // of the folders when the set in use was found in them; else empty
	old    []retired // the oldest first
	pinned []string  // digests of the set in use
	failed bool
}

// retired are pins that end.
type retired struct {
	digests []string
	until   time.Time
}

// New takes over the set that was in use before the agent ended, as far as it is
// complete, and looks at the folders once.
func New(ctx context.Context, cfg Config) (*Loaders, error) {
	l := &Loaders{cfg: cfg, met: newMetrics(cfg.Registerer)}
	set, err := cfg.Store.InUse()
	if err != nil {
		return nil, err
	}
	if len(cfg.Folders) == 0 {
		set = nil // they were taken out of the agent's file
	}
	for _, d := range digests(set) {
		if err := cfg.Blobs.Verify(ctx, d); err != nil {
			cfg.Logger.Warn("a boot loader of before is not complete", "digest", d, "err", err)
			set = nil // nothing else is known of the folders of then
			break
		}
	}
	if err := l.use(set); err != nil {
		return nil, err
	}
	if set == nil {
		l.look(ctx) // there is nothing to protect from a folder that changes
	}
	l.look(ctx)
	return l, nil
}

// Set is the set in use. It is not to be changed.
func (l *Loaders) Set() chain.Set {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.set
}

// Run looks at the folders until ctx ends.
func (l *Loaders) Run(ctx context.Context) error {
	for {
		pause := lookEvery
		if l.seen != nil {
			pause = settle
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
			l.look(ctx)
			l.forget()
		}
	}
}

// look reads the folders, and takes what is there if the look before saw the same.
func (l *Loaders) look(ctx context.Context) {
	if len(l.cfg.Folders) == 0 {
		return
	}
	now := stamp(l.cfg.Folders)
	if now == l.stamp {
		return
	}
	l.stamp = ""
	found, err := scan(l.cfg.Folders)
	var set chain.Set
	if err == nil {
		set = found.set()
	}
	switch {
	case err != nil:
		l.seen = nil
	case equal(set, l.Set()):
		l.seen, l.stamp = nil, now
	case !equal(set, l.seen) || l.seen == nil:
		l.seen = set
		return // what holds now holds until the next look
	default:
		if err = l.take(ctx, found); err == nil {
			l.seen, l.stamp = nil, now
		}
	}
	l.say(err)
}

// take makes what was found the set in use: all files are in the blob store before the
// set is on disk, and the set is on disk before it is used.
func (l *Loaders) take(ctx context.Context, f found) error {
	set := f.set()
	pins := digests(set)
	var done []string
	fail := func(err error) error {
		return errors.Join(err, l.unpin(done))
	}
	for _, d := range pins {
		if err := l.cfg.Blobs.Pin(d); err != nil {
			return fail(err)
		}
		done = append(done, d)
	}
	for _, file := range f {
		if l.cfg.Blobs.Has(file.Digest) {
			continue
		}
		wctx, cancel := context.WithTimeout(ctx, writeTimeout)
		err := l.cfg.Blobs.Write(wctx, file.Digest, file.Size, bytes.NewReader(file.content))
		cancel()
		if err != nil {
			return fail(protocol.Errorf(protocol.CodeOf(err), "keep boot loader", "%s: %w", file.Path, err))
		}
	}
	if err := l.cfg.Store.Put(set); err != nil {
		return fail(err)
	}
	if err := l.unpin(done); err != nil { // use pins them for itself
		return err
	}
	if err := l.use(set); err != nil {
		return err
	}
	l.cfg.Logger.Info("boot loaders are in use", "loaders", len(pins))
	l.met.loaded.Inc()
	l.cfg.Changed()
	return nil
}

// use puts a set in the place of the one before.
func (l *Loaders) use(set chain.Set) error {
	pins := digests(set)
	for _, d := range pins {
		if err := l.cfg.Blobs.Pin(d); err != nil {
			return err
		}
	}
	if len(l.pinned) > 0 {
		l.old = append(l.old, retired{l.pinned, l.cfg.Clock().Add(keepOld)})
	}
	l.pinned = pins
	l.mu.Lock()
	l.set = set
	l.mu.Unlock()
	l.met.loaders.Reset()
	for cpu, of := range set {
		l.met.loaders.WithLabelValues(cpu).Set(float64(len(of)))
	}
	return nil
}

// forget lets go of sets that no boot can need any more.
func (l *Loaders) forget() {
	for len(l.old) > 0 && !l.cfg.Clock().Before(l.old[0].until) {
		if err := l.unpin(l.old[0].digests); err != nil {
			l.cfg.Logger.Error("boot loaders", "err", err)
		}
		l.old = l.old[1:]
	}
}

func (l *Loaders) unpin(digests []string) (err error) {
	for _, d := range digests {
		err = errors.Join(err, l.cfg.Blobs.Unpin(d))
	}
	return err
}

// say tells of a failure, and once that it is over.
func (l *Loaders) say(err error) {
	if err != nil {
		l.met.failures.Inc()
		l.cfg.Logger.Warn("boot loaders are not taken; those of before stay", "err", err)
	}
	if err != nil || l.failed {
		l.cfg.Failed(err)
	}
	l.failed = err != nil
}

// digests are those of a set, each once.
func digests(set chain.Set) (out []string) {
	for _, of := range set {
		for _, l := range of {
			out = append(out, l.Digest)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func equal(a, b chain.Set) bool {
	return maps.EqualFunc(a, b, func(x, y chain.Loaders) bool { return maps.Equal(x, y) })
}
