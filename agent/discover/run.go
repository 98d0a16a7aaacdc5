package discover

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"rackboot/protocol/resource"
)

const (
	// leaseAtOnce bounds the reads of BMCs that hold a lease; they do not wait for a scan.
	leaseAtOnce = 8
	// lookEvery is the longest time between two looks at what is due or gone.
	lookEvery = time.Minute
)

// running is a segment that is looked at.
type running struct {
	seg    resource.SegmentIntent
	ctx    context.Context
	cancel context.CancelFunc
}

// Run looks for BMCs until ctx ends. It may be called once.
func (f *Finder) Run(ctx context.Context) error {
	var tasks sync.WaitGroup
	defer tasks.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if f.cfg.Registerer != nil {
		defer f.cfg.Registerer.Unregister(f.metrics)
	}
	watched := map[string]running{}
	free := make(chan struct{}, leaseAtOnce)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-f.poked:
		}
		f.restart(ctx, &tasks, watched)
		timer.Reset(f.read(&tasks, watched, free))
	}
}

// restart ends what looks at segments that went away or changed, and begins with
// those that came or changed.
func (f *Finder) restart(ctx context.Context, tasks *sync.WaitGroup, watched map[string]running) {
	f.mu.Lock()
	wanted := maps.Clone(f.segments)
	f.mu.Unlock()
	for name, w := range watched {
		if seg, ok := wanted[name]; !ok || !asBefore(seg, w.seg) {
			w.cancel()
			delete(watched, name)
		}
	}
	for name, seg := range wanted {
		w, ok := watched[name]
		if ok && reflect.DeepEqual(seg, w.seg) {
			continue
		}
		w.seg = seg
		if !ok {
			w.ctx, w.cancel = context.WithCancel(ctx)
			tasks.Go(func() { f.watch(w.ctx, seg) })
		}
		watched[name] = w
		f.load(name) // a MAC address that has a lease may be a BMC's from now on
	}
}

// asBefore says whether the same addresses are asked. Each BMC that is accepted
// changes a segment; that is no reason to scan it again.
func asBefore(a, b resource.SegmentIntent) bool {
	return a.Prefix == b.Prefix && a.Address == b.Address && slices.Equal(a.Scan, b.Scan)
}

// load takes the leases that were granted before.
func (f *Finder) load(segment string) {
	leases, err := f.cfg.Leases.Load(segment)
	if err != nil {
		f.log.Error("leases cannot be read; BMCs are found when they renew them", "segment", segment, "err", err)
	}
	for _, l := range leases {
		f.Leased(l)
	}
}

// read begins to read the service roots that are due, and says when to look again.
func (f *Finder) read(tasks *sync.WaitGroup, watched map[string]running, busy chan struct{}) time.Duration {
	now := f.cfg.Clock()
	f.mu.Lock()
	changed := f.table.expire(now)
	due, next := f.table.due(now, cap(busy)-len(busy), lookEvery)
	f.mu.Unlock()
	f.tell(changed)
	for _, e := range due {
		w, ok := watched[e.Segment]
		if !ok { // it came after restart looked, and has poked
			f.spare(e)
			continue
		}
		busy <- struct{}{}
		tasks.Go(func() {
			a, ok := f.ask(w.ctx, w.seg, e.addr)
			<-busy
			if ok {
				f.answered(e.Segment, a)
			} else {
				f.spare(e)
			}
			f.poke() // there is room for another
		})
	}
	return next
}

// spare makes an entry due again that was not read.
func (f *Finder) spare(e entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.table[e.key()]; now != nil && now.addr == e.addr {
		now.reading = false
	}
}
