package checkpoint

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/store"
	"rackboot/state/file"
	"rackboot/state/heads"
)

const (
	// Every is how often it is looked whether the store has more. What was written within
	// two of it, and is lost, is not missed by name.
	Every = 250 * time.Millisecond
	// grow is how much larger than what there is the file may become, and small is what it always
	// may.
	grow  = 3
	small = 1 << 20
)

// Keeper keeps what the store has in a file. Only [Keeper.Follow] and [Keeper.Accept] write it, one at a time.
type Keeper struct {
	cfg    Config
	failed prometheus.Counter

	file *os.File // nil before the first write
	size int64    // of its whole lines
	full int64    // size when everything was written last
	all  bool     // everything is to be written
	last atomic.Pointer[heads.Checkpoint]
}

// Config is what a Keeper is made of.
type Config struct {
	Path    string // of the file
	Streams Streams
	Store   *store.Store
	// ID is that of the store.
	ID     string
	Logger *slog.Logger
	// Epoch and Audit are as [Keeper.Serve] gives them; 0 and nil are none.
	Epoch uint64
	Audit func() heads.Entry
}

// New goes on with what a record says, if that can be gone on with, of a store that has all that it had.
func New(cfg Config, was heads.Record) *Keeper {
	k := &Keeper{cfg: cfg, all: !was.Known || !was.Whole, size: was.Size, full: was.Size}
	if was.Known {
		k.last.Store(&was.Checkpoint)
	}
	k.failed = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "rackboot_hub_checkpoint_failures_total", Help: "Times that what the store has could not be written beside it.",
	})
	if !k.all && cfg.Store.Lost() == nil {
		cfg.Store.Heads().Since(was.Keys)
	}
	return k
}

// Serve says of which epoch what is kept is, and who has the audit log; before Follow or Accept.
func (k *Keeper) Serve(epoch uint64, audit func() heads.Entry) {
	k.cfg.Epoch, k.cfg.Audit = epoch, audit
}

// Describe implements prometheus.Collector.
func (k *Keeper) Describe(ch chan<- *prometheus.Desc) { k.failed.Describe(ch) }

// Collect implements prometheus.Collector.
func (k *Keeper) Collect(ch chan<- prometheus.Metric) { k.failed.Collect(ch) }

// Checkpoint is what was written last; nil before the first.
func (k *Keeper) Checkpoint() *heads.Checkpoint { return k.last.Load() }

// look makes a checkpoint, with what has changed.
func (k *Keeper) look(ctx context.Context) (heads.Checkpoint, store.Taken, error) {
	extents, err := k.cfg.Streams.Measure(ctx)
	if err != nil {
		return heads.Checkpoint{}, store.Taken{}, err
	}
	taken := k.cfg.Store.Heads().Take(k.all)
	k.all = false
	c := heads.Checkpoint{Store: k.cfg.ID, Epoch: k.cfg.Epoch, Sequence: taken.Sequence, Streams: extents, Kinds: taken.Kinds}
	if k.cfg.Audit != nil {
		c.Audit = k.cfg.Audit()
	}
	return c, taken, nil
}

// Accept takes what is there for all that there is.
func (k *Keeper) Accept(ctx context.Context) error {
	k.all = true
	c, taken, err := k.look(ctx)
	if err != nil {
		return err
	}
	return k.write(c, taken)
}

// seen is what was looked at and not written yet.
type seen struct {
	checkpoint heads.Checkpoint
	taken      store.Taken
}

// Follow writes what there is, until ctx ends, and then once more. What it writes was so a
// look before, with a store that has been healthy since. A store that has less than was written, at
// two looks, has lost it.
func (k *Keeper) Follow(ctx context.Context, healthy func() error) error {
	tick := time.NewTicker(Every)
	defer tick.Stop()
	var before *seen
	less := 0
	for k.cfg.Store.Lost() == nil {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			if !k.put(before) {
				return nil
			}
			c, taken, err := k.look(last)
			if err != nil || healthy() != nil || k.lack(c) != nil || k.same(c, taken) {
				return nil
			}
			return k.write(c, taken)
		case <-tick.C:
		}
		c, taken, err := k.look(ctx)
		if err != nil || healthy() != nil {
			// What is wrong is said by who looks at the store's health. What was taken is not written.
			k.all, before = true, nil
			continue
		}
		if lack := k.lack(c); lack != nil {
			k.all, before = true, nil
			if less++; less == 2 {
				k.cfg.Store.Lose(lack)
				k.cfg.Logger.Error("the hub's store has lost what was acknowledged while the hub ran; from now on it only reads", "lost", lack.Error(), "hint", heads.Hint)
			}
			continue
		}
		less = 0
		if !k.put(before) {
			k.all, before = true, nil
			continue
		}
		before = &seen{c, taken}
	}
	return nil
}

// put writes what was seen before, if it says more; false if that failed, and all is to be written.
func (k *Keeper) put(s *seen) bool {
	if s == nil || k.same(s.checkpoint, s.taken) {
		return true
	}
	err := k.write(s.checkpoint, s.taken)
	if err != nil {
		k.failed.Inc()
		k.cfg.Logger.Warn("what the store has was not written beside it; it is tried again", "err", err)
	}
	return err == nil
}

func (k *Keeper) same(c heads.Checkpoint, t store.Taken) bool {
	was := k.last.Load()
	return was != nil && !t.All && len(t.There)+len(t.Gone) == 0 && maps.Equal(was.Streams, c.Streams) && was.Audit == c.Audit && was.Store == c.Store && was.Epoch == c.Epoch
}

// lack is what streams have less of than was written; nil is nothing.
func (k *Keeper) lack(c heads.Checkpoint) *heads.Loss {
	was := k.last.Load()
	if was == nil {
		return nil
	}
	l := &heads.Loss{Store: k.cfg.ID, Unlisted: true}
	for _, name := range slices.Sorted(maps.Keys(was.Streams)) {
		if is := c.Streams[name]; !is.Covers(was.Streams[name]) {
			l.Streams = append(l.Streams, heads.Shrunk{Stream: name, Was: was.Streams[name], Is: is})
		}
	}
	if len(l.Streams) == 0 {
		return nil
	}
	return l
}

// write adds to the file, or replaces it where everything is written.
func (k *Keeper) write(c heads.Checkpoint, t store.Taken) error {
	var raw []byte
	for _, key := range t.There {
		raw = heads.AppendKey(raw, key)
	}
	for _, key := range t.Gone {
		raw = heads.AppendGone(raw, key)
	}
	raw, err := heads.AppendCheckpoint(raw, c)
	if err != nil {
		return err
	}
	if t.All {
		err = k.replace(raw)
	} else {
		err = k.add(raw)
	}
	if err == nil {
		k.last.Store(&c)
	}
	return err
}

func (k *Keeper) replace(raw []byte) error {
	if err := file.Replace(k.cfg.Path, raw, 0o600); err != nil {
		return err
	}
	k.Close()
	k.size, k.full = int64(len(raw)), int64(len(raw))
	return nil
}

// add appends. What a failed write has left is cut off again, or counts for nothing; see package heads.
func (k *Keeper) add(raw []byte) error {
	if k.file == nil {
		f, err := os.OpenFile(k.cfg.Path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		if err := f.Truncate(k.size); err != nil { // what a crash left
			return errors.Join(err, f.Close())
		}
		k.file = f
	}
	_, err := k.file.WriteAt(raw, k.size)
	if err == nil {
		err = k.file.Sync()
	}
	if err != nil {
		return errors.Join(err, k.file.Truncate(k.size))
	}
	k.size += int64(len(raw))
	k.all = k.all || k.size > max(small, grow*k.full) // it has become too long
	return nil
}

// Close closes the file.
func (k *Keeper) Close() {
	if k.file != nil {
		_ = k.file.Close() // each write to it was synced
		k.file = nil
	}
}
