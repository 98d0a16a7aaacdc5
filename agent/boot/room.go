package boot

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"rackboot/agent/loaders"
	"rackboot/agent/store"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

// Room has what boots need. Make it with New; then call Run once, and Listen for the boot
// servers. All methods are safe for concurrent use.
type Room struct {
	cfg       Config
	index     *Index
	loaders   *loaders.Loaders
	notices   *notices
	shortages *shortages
	diverters *diverters
	loads     loads
	expected  expected
	met       *metrics
	started   time.Time
}

// New reads the loaders. Nothing is served before Run.
func New(cfg Config) (r *Room, err error) {
	r = &Room{cfg: cfg, index: cfg.Index, shortages: newShortages(), diverters: &diverters{}, met: newMetrics(cfg.Registerer), started: cfg.Clock()}
	r.notices = newNotices(r)
	r.index.ambiguous = r.ambiguous
	r.index.claimed = cfg.Servers.Saw
	if r.loaders, err = r.openLoaders(); err != nil {
		return nil, err
	}
	r.index.guard = cfg.Guard
	r.index.stopKey, r.index.clock, r.index.offer = cfg.NewID(), cfg.Clock, r.offerStop
	return r, nil
}

// Run keeps the loaders and records notices until ctx ends.
func (r *Room) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return r.loaders.Run(ctx) })
	group.Go(func() error {
		r.notices.run(ctx)
		return nil
	})
	return group.Wait()
}

// Rebuild replaces the index by what the store says. begins says that the agent has synced,
// and the index did not say so.
func (r *Room) Rebuild(o store.Overview) (begins bool) { return r.index.rebuild(o) }

// Hold takes over whether a hold lies on a server.
func (r *Room) Hold(server string, held bool) { r.index.hold(server, held) }

// Follow takes over what a step changed.
func (r *Room) Follow(server string, rec decide.Record) { r.index.follow(server, rec) }

// Segment returns what the rack's document says of a segment.
func (r *Room) Segment(name string) (resource.SegmentIntent, bool) { return r.index.Segment(name) }

// Heard returns the architecture that a server's firmware has said of itself by DHCP since the agent
// started; empty if it said none.
func (r *Room) Heard(server string) string { return r.index.heardOf(server) }

// Short returns the segment on which a server waits for an address; empty if it does not.
func (r *Room) Short(server string) string { return r.shortages.of(server, r.cfg.Clock()) }

// Tell raises and clears the conditions of what the rack wants and this agent cannot serve.
func (r *Room) Tell(served []resource.SegmentIntent) {
	r.sayUnserved(served)
	r.sayNoStop()
}

// Dropped counts evidence that was not noted, because too much waited.
func (r *Room) Dropped() { r.met.dropped.Inc() }
