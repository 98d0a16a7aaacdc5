package broker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"rackboot/protocol"
)

// The server never writes again to a stream after one write to it has failed, not even
// when the disk has room again, and answers no later write (filestore.go of nats-server
// v2.15.2, setWriteErr). It goes on reading, and MQTT, which is in memory, works. So the
// server is looked at once a second. As long as the disk takes nothing it is left as it is;
// then it is started anew on the same store. It recovers what was acknowledged, cuts off
// what was half written, and everybody connects again.

// health is why the store takes no writes; it is safe for concurrent use.
type health struct {
	mu    sync.Mutex
	since time.Time
	cause error // nil while all is well
}

func (h *health) set(cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if cause != nil && h.cause == nil {
		h.since = time.Now()
	}
	h.cause = cause
}

func (h *health) get() (since time.Time, cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.since, h.cause
}

// Healthy says why the store takes no writes; nil if nothing is known against it. It
// does not wait. The code is unavailable.
func (b *Broker) Healthy() error {
	since, cause := b.health.get()
	switch {
	case cause == nil && b.full.Load():
		return protocol.Errorf(protocol.CodeUnavailable, "use the hub's store", "the store in %s has the %d bytes that it may have", b.cfg.Dir, b.cfg.MaxStore).
			WithHint("report it: no hub is expected to need as much, and the bound cannot be configured")
	case cause == nil:
		return nil
	}
	return protocol.Errorf(protocol.CodeUnavailable, "use the hub's store", "the store in %s takes no writes since %s: %w",
		b.cfg.Dir, since.UTC().Format(time.RFC3339), cause).
		WithHint("free space on its file system, or look there for what else is wrong; the hub opens the store again by itself")
}

var (
	errFailedWrite = errors.New("a write to it failed")
	errNoStream    = errors.New("a stream in it is not served")
	errStopped     = errors.New("the server within the hub has ended")
)

// reserve is what the server may store beyond what is configured. It is never used up: the hub
// stops writing within a second, and a server that comes to its own limit within a commit keeps
// half of it (nats-server v2.15.2, processJetStreamAtomicBatchMsg, without a cluster).
const reserve = 1 << 30

// used are the bytes of the server's store; 0 if it does not say.
func used(s *server.Server) int64 {
	info, err := s.Jsz(nil)
	if err != nil {
		return 0
	}
	return int64(info.Store)
}

// sick says what is wrong with the server's store, of what only a new start can mend.
func sick(s *server.Server) error {
	if !s.Running() {
		return errStopped
	}
	status := s.Healthz(&server.HealthzOptions{Details: true})
	var found error
	for _, e := range status.Errors {
		switch {
		case e.Type == server.HealthzErrorJetStream || e.Type == server.HealthzErrorStream && serves(s, e.Stream):
			return errFailedWrite
		case e.Type == server.HealthzErrorStream:
			found = errNoStream
		}
	}
	return found
}

// serves reports whether a server has a stream, or cannot say so: of a stream that is being made or
// removed only the folder is there.
func serves(s *server.Server, stream string) bool {
	info, err := s.Jsz(&server.JSzOptions{Accounts: true, Streams: true})
	if err != nil {
		return true
	}
	for _, a := range info.AccountDetails {
		for _, d := range a.Streams {
			if d.Name == stream {
				return true
			}
		}
	}
	return false
}

// lasts is how long a finding is there before it is believed. A slow disk may take seconds to make a stream.
func lasts(found error) time.Duration {
	if errors.Is(found, errNoStream) {
		return noStreamLasts
	}
	return 0
}

const noStreamLasts = 15 * time.Second

// watch looks at the server until ctx ends. What is found twice, one after the other, is so, and a stream that is not
// served when it is not for a while: it may be being made or removed.
func (b *Broker) watch(ctx context.Context) {
	defer close(b.watched)
	tick := time.NewTicker(b.cfg.limits.look)
	defer tick.Stop()
	var before error
	var first time.Time // when it was found
	pause, next := b.cfg.limits.look, time.Time{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s := b.server.Load()
		b.full.Store(s.Running() && used(s) >= b.cfg.MaxStore)
		found := sick(s)
		if before == nil || errors.Is(found, errNoStream) != errors.Is(before, errNoStream) {
			first = time.Now()
		}
		twice := found != nil && before != nil && time.Since(first) >= lasts(found)
		before = found
		switch _, known := b.health.get(); {
		case found == nil && known == nil:
			pause = b.cfg.limits.look
			continue
		case found != nil && known == nil && !twice:
			continue
		case known == nil:
			b.cfg.Logger.Error("the hub's store takes no writes", "dir", b.cfg.Dir, "err", found,
				"hint", "free space on its file system; the hub opens the store again by itself")
		}
		if err := writable(b.cfg.Dir); err != nil {
			b.health.set(err)
			continue
		}
		b.health.set(found)
		if time.Now().Before(next) {
			continue
		}
		if err := b.reopen(ctx); err != nil {
			b.health.set(err)
			b.cfg.Logger.Error("the hub's store cannot be opened again", "err", err, "again_in", pause)
		}
		next = time.Now().Add(pause)
		pause = min(2*pause, maxReopenPause)
		before = nil
	}
}

// reopen ends the server and starts another one on the same store and address.
func (b *Broker) reopen(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	b.end()
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := b.start(ctx); err != nil {
		return err
	}
	b.metrics.reopened.Inc()
	since, _ := b.health.get()
	b.health.set(nil)
	b.cfg.Logger.Warn("the hub's store was opened again", "dir", b.cfg.Dir, "after", time.Since(since).Round(time.Millisecond))
	return nil
}

const (
	// roomToStart are the bytes that must be free before the store is opened again: its
	// indexes, and some writes.
	roomToStart = 4 << 20
	probeBytes  = 64 << 10
	probeFile   = ".probe"
)

// writable says why nothing can be written to the folder; nil if something can. Beside the
// free space that the file system tells, which a quota does not change, something is written.
func writable(dir string) error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return err
	}
	if int64(fs.Bavail)*fs.Bsize < roomToStart {
		return syscall.ENOSPC
	}
	path := filepath.Join(dir, probeFile)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, probeBytes))
	return errors.Join(err, f.Sync(), f.Close(), os.Remove(path))
}
