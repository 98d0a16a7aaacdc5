package server

import (
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"rackboot/agent/store"
	"rackboot/protocol"
)

// A token stays good after its boot, and whoever has it may report what he likes:
// imageBurst reports that say something else are written at once, then one every
// imageEvery.
const (
	imageBurst = 10
	imageEvery = 5 * time.Second
)

// images has what the image of one server reported last. It is safe for concurrent use.
type images struct {
	store  *store.Images
	log    *slog.Logger
	server string

	mu   sync.Mutex
	last *kept         // nil before it was read
	says *rate.Limiter // of reports that say something else
}

// kept is a report as it is on disk; nil if the image never reported.
type kept struct{ report *protocol.ImageReport }

func newImages(st *store.Images, log *slog.Logger, server string) *images {
	return &images{store: st, log: log, server: server, says: rate.NewLimiter(rate.Every(imageEvery), imageBurst)}
}

// keep puts a report of the server's image on disk, of an owner's boot. The same again is not
// written: an image that repeats itself costs no disk. One that
// says something else too often is told unavailable.
func (i *images) keep(r protocol.ProbeReport, owner string, now time.Time) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if err := i.read(); err != nil {
		return err
	}
	var last protocol.ImageReport
	if i.last.report != nil {
		last = *i.last.report
	}
	next, err := last.Follow(r, owner, now)
	if err != nil || i.last.report != nil && next.Says(last) {
		return err
	}
	if !i.says.AllowN(now, 1) {
		return protocol.Errorf(protocol.CodeUnavailable, "keep report", "the image of %s says something else too often", i.server).
			WithHint("it may try again; one report every %s is kept", imageEvery)
	}
	if err := i.store.PutReport(i.server, next); err != nil {
		return err
	}
	i.last = &kept{&next}
	i.log.Info("image reported", "state", r.State, "message", r.Message, "inventory", r.Inventory != nil)
	return nil
}

// report returns the last one; nil if there is none. What cannot be read is read again.
func (i *images) report() *protocol.ImageReport {
	i.mu.Lock()
	defer i.mu.Unlock()
	if err := i.read(); err != nil {
		i.log.Warn("cannot read what the image reported", "err", err)
		return nil
	}
	return i.last.report
}

// read needs i.mu.
func (i *images) read() error {
	if i.last != nil {
		return nil
	}
	r, err := i.store.Report(i.server)
	if err != nil {
		return err
	}
	i.last = &kept{r}
	return nil
}
