package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"rackboot/internal/pending"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state/blob"
)

const (
	// isoPiece is how much is asked for at once, in bytes: the hub's places are for all racks.
	isoPiece = 64 << 20
	// isoStall is how long nothing of a file may come, and isoTimeout how long one try may
	// take; the next one goes on where it ended.
	isoStall    = time.Minute
	isoTimeout  = 6 * time.Hour
	isoPauseMin = 5 * time.Second
	isoPauseMax = 5 * time.Minute
	// isoBurst is how much is read at once where the bandwidth is bounded, in bytes.
	isoBurst = 64 << 10
)

// errStalled says that nothing came for isoStall.
var errStalled = errors.New("nothing came for a minute")

// uploads brings uploaded files from the hub to the agent's disk before they are needed
// (P7). A file that is wanted is pinned among the blobs, there or not, until Keep drops
// it. One file is fetched at a time, in pieces, and each is verified once more after an
// agent's start. It is safe for concurrent use.
type uploads struct {
	cfg     *Config
	jobs    *pending.Set[string] // by digest
	limit   *rate.Limiter        // nil: none
	metrics *uploadMetrics

	mu     sync.Mutex
	wanted map[string]*isoWant // bounded by what documents name
	alone  string              // the digest of what Bring brings; empty is none
}

// isoWant is a file that was asked for.
type isoWant struct {
	resource.EnvISO
	have   int64              // bytes on disk, as far as is known
	cancel context.CancelFunc // of the fetch under way; nil without one
}

func newUploads(cfg *Config) *uploads {
	p := &uploads{cfg: cfg, wanted: map[string]*isoWant{}}
	if b := cfg.Limits.Bandwidth; b > 0 {
		p.limit = rate.NewLimiter(rate.Limit(b), int(min(b, isoBurst)))
	}
	p.jobs = pending.New(pending.Config[string]{
		Do: p.bring, Tried: func(string) { cfg.Servers.LookAtAll() }, Timeout: isoTimeout, MinPause: isoPauseMin, MaxPause: isoPauseMax, Clock: cfg.Clock,
	})
	p.metrics = newUploadMetrics(p, cfg.Registerer)
	return p
}

// Want asks for a file, by its digest. It does not wait.
func (p *uploads) Want(iso resource.EnvISO) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.wanted[iso.Digest]; w != nil {
		w.EnvISO = iso
		return
	}
	if err := p.cfg.Blobs.Pin(iso.Digest); err != nil { // of a digest that is none; State says so
		p.cfg.Logger.Error("uploaded file", "file", iso.File, "err", err)
	}
	p.wanted[iso.Digest] = &isoWant{EnvISO: iso}
	p.jobs.Add(iso.Digest)
}

// State returns whether the file is local and verified, how far it is in words for people,
// and why it was not brought the last time. blob.ErrInsufficient is in the chain of err
// where there is no room for it.
func (p *uploads) State(iso resource.EnvISO) (done bool, progress string, err error) {
	done, err = p.jobs.State(iso.Digest)
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.wanted[iso.Digest]
	switch {
	case done:
		return true, "local", nil
	case w == nil:
		return false, "not asked for", err
	case w.have == 0:
		return false, fmt.Sprintf("%s waits to be fetched", w.File), err
	}
	return false, fmt.Sprintf("%s: %s of %s (%d %%)", w.File, sizeOf(w.have), sizeOf(w.Size), w.have*100/max(1, w.Size)), err
}

// sizeOf is a size for people.
func sizeOf(n int64) string {
	if n < 1<<30 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// Keep forgets every file that needed does not name, with what came of it.
func (p *uploads) Keep(needed func(digest string) bool) {
	blobs := p.cfg.Blobs
	p.mu.Lock()
	defer p.mu.Unlock()
	p.jobs.Keep(needed)
	for digest, w := range p.wanted {
		if needed(digest) {
			continue
		}
		if w.cancel != nil {
			w.cancel() // which removes the part
		}
		delete(p.wanted, digest)
		if err := blobs.Unpin(digest); err != nil {
			p.cfg.Logger.Error("uploaded file", "file", w.File, "err", err)
		}
	}
	for _, part := range blobs.Parts() { // also of an earlier run
		if p.wanted[part.Digest] == nil && !needed(part.Digest) && part.Digest != p.alone {
			p.drop(part.Digest)
		}
	}
}

// drop removes what is there of a file that is not complete.
func (p *uploads) drop(digest string) {
	if err := p.cfg.Blobs.DropPart(digest); err != nil && !errors.Is(err, blob.ErrWriting) {
		p.cfg.Logger.Error("what was fetched of a file was not removed", "digest", digest, "err", err)
	}
}

// bring makes one file local.
func (p *uploads) bring(ctx context.Context, digest string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.mu.Lock()
	w := p.wanted[digest]
	if w == nil {
		p.mu.Unlock()
		return nil // no document names it any more
	}
	w.cancel = cancel
	iso := w.EnvISO
	p.mu.Unlock()
	err := p.fetch(ctx, iso, p.waitTurn)
	p.mu.Lock()
	w.cancel = nil
	again, gone := p.wanted[digest], p.wanted[digest] != w
	p.mu.Unlock()
	switch {
	case gone:
		if again == nil {
			p.drop(digest)
		}
		// One that is wanted again is begun again: this was not done for it.
		return protocol.Errorf(protocol.CodeUnavailable, "fetch file", "%s was not wanted for a while", iso.File).WithHint("it is tried again by itself")
	case err != nil:
		p.metrics.pulls.WithLabelValues(string(protocol.CodeOf(err))).Inc()
		p.cfg.Logger.Warn("uploaded file could not be fetched", "file", iso.File, "digest", digest, "err", err)
		return err
	}
	p.metrics.pulls.WithLabelValues(isoDone).Inc()
	p.cfg.Logger.Info("uploaded file is local", "file", iso.File, "digest", digest)
	return nil
}

// fetch makes a file of the hub local. turn waits before anything is asked for.
func (p *uploads) fetch(ctx context.Context, iso resource.EnvISO, turn func(context.Context) error) error {
	const op = "fetch file"
	blobs := p.cfg.Blobs
	if blobs.Has(iso.Digest) && blobs.Verify(ctx, iso.Digest) == nil {
		return nil
	}
	if p.cfg.ISOSource == nil {
		return protocol.Errorf(protocol.CodeUnsupported, op, "this agent does not know the hub's API").WithHint("give link.api in the agent's file")
	}
	part, err := blobs.Part(ctx, iso.Digest, iso.Size) // there is room, or it is said before anything is asked for
	if err != nil || part == nil {
		return err
	}
	defer func() {
		if err := part.Close(); err != nil {
			p.cfg.Logger.Error("what was fetched of a file was not kept", "file", iso.File, "err", err)
		}
	}()
	p.came(iso.Digest, part.Offset())
	if err := turn(ctx); err != nil {
		return err
	}
	for part.Offset() < iso.Size {
		if err := p.piece(ctx, iso, part); err != nil {
			return err
		}
	}
	if err := part.Finish(); err != nil {
		p.came(iso.Digest, 0)
		return err
	}
	p.cfg.Crash.At("agent.iso.local")
	return nil
}

// waitTurn is the random wait.
func (p *uploads) waitTurn(ctx context.Context) error {
	if p.cfg.Limits.Spread <= 0 {
		return nil
	}
	t := time.NewTimer(rand.N(p.cfg.Limits.Spread))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return protocol.Errorf(protocol.CodeTimeout, "fetch file", "%w", ctx.Err())
	}
}

// piece asks for the next piece of a file and appends what comes.
func (p *uploads) piece(ctx context.Context, iso resource.EnvISO, part *blob.Part) error {
	const op = "fetch file"
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(isoStall, func() { cancel(errStalled) })
	defer watch.Stop()
	at := part.Offset()
	body, err := p.cfg.ISOSource.Fetch(ctx, iso.Digest, at, min(isoPiece, iso.Size-at))
	if err == nil {
		defer body.Close()
		_, err = part.Append(ctx, &isoReader{ctx: ctx, puller: p, digest: iso.Digest, r: body, at: at, watch: watch})
		err = errors.Join(err, part.Sync())
	}
	p.came(iso.Digest, part.Offset())
	p.cfg.Crash.At("agent.iso.piece")
	switch {
	case errors.Is(context.Cause(ctx), errStalled):
		return protocol.Errorf(protocol.CodeTimeout, op, "%s at %d of %d bytes: %w", iso.File, part.Offset(), iso.Size, errStalled).WithHint("it goes on by itself; check the network to the hub")
	case err != nil:
		return err
	case part.Offset() == at:
		return protocol.Errorf(protocol.CodeUnavailable, op, "the hub gave nothing of %s from %d of %d bytes on", iso.File, at, iso.Size).WithHint("it is tried again by itself")
	}
	return nil
}

// came notes how much of a file is there.
func (p *uploads) came(digest string, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.wanted[digest]; w != nil {
		w.have = n
	}
}

// isoReader reads at the bandwidth that the agent's file gives.
type isoReader struct {
	ctx    context.Context
	puller *uploads
	digest string
	r      io.Reader
	at     int64
	watch  *time.Timer
}

func (r *isoReader) Read(b []byte) (int, error) {
	l := r.puller.limit
	if l != nil {
		b = b[:min(len(b), l.Burst())]
	}
	n, err := r.r.Read(b)
	if n > 0 {
		r.at += int64(n)
		r.puller.metrics.bytes.Add(float64(n))
		r.puller.came(r.digest, r.at)
		if l != nil {
			r.watch.Stop() // it is our own wait
			if waitErr := l.WaitN(r.ctx, n); waitErr != nil && err == nil {
				err = waitErr
			}
		}
		r.watch.Reset(isoStall)
	}
	return n, err
}
