package wake

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"rackboot/hub/store"
	"rackboot/hub/turns"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// The units of work are the racks, by name, and the site: what concerns several racks at once.
const (
	rackUnits = "rack/"
	// SiteUnit is the unit of the site.
	SiteUnit = "site"
)

// RackUnit is the unit of a rack.
func RackUnit(rack string) string { return rackUnits + rack }

// RackOf is the rack of a unit; false of another.
func RackOf(unit string) (string, bool) { return strings.CutPrefix(unit, rackUnits) }

// rackWorkers is how many racks are worked on at once. A turn mostly waits for the store.
const rackWorkers = 4

// SweepEvery is how often each unit has a turn though nothing was said to have changed: time
// itself decides some things, and a wake may be missing.
const SweepEvery = time.Minute

const sweepTick = time.Second

// Units are the queues of what there is to do, and who knows whom to wake. It is safe for
// concurrent use.
type Units struct {
	approvals *store.Approvals
	objects   *store.Objects
	requests  *store.Requests
	log       *slog.Logger
	metrics   unitMetrics
	Racks     *turns.Queue // and the site
	Holds     *turns.Queue // the hold documents, by rack; these wait for nothing else
	// unbound and grouped are whether the last turn of the site found claims that wait for a server of
	// any rack, and groups: then more of what happens in racks is news for it.
	unbound, grouped atomic.Bool
	// Sweeping is whether the site's next turn looks for what nobody needs any more.
	Sweeping atomic.Bool
	// warnings bounds what is logged of turns that fail: on a full disk all of them may, and
	// rackboot_hub_turns_failed_total counts each.
	warnings *rate.Limiter
}

// warnBurst is how many turns that failed are logged at once; then one a second.
const warnBurst = 20

// Config is what Units are made of.
type Config struct {
	Store *store.Store
	// Turn is one turn of a rack or of the site; HoldTurn one of a rack's hold document.
	Turn, HoldTurn func(ctx context.Context, unit string) error
	Logger         *slog.Logger
}

// New returns units of which none is woken. Racks, Holds, Sweep and Follow run them.
func New(cfg Config) *Units {
	u := &Units{approvals: cfg.Store.Approvals, objects: cfg.Store.Objects, requests: cfg.Store.Requests, log: cfg.Logger, warnings: rate.NewLimiter(1, warnBurst), metrics: newUnitMetrics()}
	u.Racks = turns.New(turns.Config{Do: cfg.Turn, Workers: rackWorkers, Rest: rest, Again: againAfter, Done: func(unit string, took time.Duration, err error) {
		u.turned(laneOf(unit), unit, took, err)
	}})
	u.Holds = turns.New(turns.Config{Do: cfg.HoldTurn, Workers: rackWorkers, Again: againAfter, Done: func(rack string, took time.Duration, err error) {
		u.turned(laneHolds, RackUnit(rack), took, err)
	}})
	u.Sweeping.Store(true)
	return u
}

func (u *Units) turned(l lane, unit string, took time.Duration, err error) {
	u.metrics.turns.WithLabelValues(string(l)).Observe(took.Seconds())
	if err == nil {
		return
	}
	u.metrics.failed.WithLabelValues(string(l)).Inc()
	if u.warnings.Allow() {
		u.log.Warn("another turn is taken", "lane", l, "unit", unit, "err", err)
	}
}

// lane is a label of rackboot_hub_turn_seconds.
type lane string

const (
	laneRack  lane = "rack"
	laneSite  lane = "site"
	laneHolds lane = "holds"
)

func laneOf(unit string) lane {
	if unit == SiteUnit {
		return laneSite
	}
	return laneRack
}

// Between two turns of a unit is a pause of restShare times what the last one took, at most
// restMax: a set that is applied is hundreds of writes, and most of the time is left to others.
const (
	restShare    = 2
	restMax      = 200 * time.Millisecond
	siteRestMax  = 5 * time.Second
	siteRestsFor = 9
)

func rest(unit string, took time.Duration) time.Duration {
	if unit == SiteUnit { // its turn may be about the whole fleet
		return min(siteRestsFor*took, siteRestMax)
	}
	return min(restShare*took, restMax)
}

// againAfter is the pause before a turn that failed n times is taken again: a store that takes
// nothing is not helped by being asked five times a second.
func againAfter(_ string, err error, n int) time.Duration {
	if code := protocol.CodeOf(err); code == protocol.CodeUnavailable || code == protocol.CodeTimeout {
		return 2 * time.Second
	}
	return min(200*time.Millisecond<<min(n-1, 8), 5*time.Second)
}

// Waits says what the last turn of the site found: claims for a server of any rack, and groups.
func (u *Units) Waits(unbound, grouped bool) {
	u.unbound.Store(unbound)
	u.grouped.Store(grouped)
}

// Rack has the hold document of a rack made, and its turn taken.
func (u *Units) Rack(rack string) {
	if rack == "" {
		u.Site()
		return
	}
	u.Holds.Wake(rack)
	u.Racks.Wake(RackUnit(rack))
}

// Turn has a rack take its turn, which makes the hold document too. It is for what no hold waits
// for: the lane of holds is left to those.
func (u *Units) Turn(rack string) {
	if rack == "" {
		u.Site()
		return
	}
	u.Racks.Wake(RackUnit(rack))
}

// Unit wakes a unit, or what is a part of the site's.
func (u *Units) Unit(unit string) {
	if rack, is := RackOf(unit); is {
		u.Turn(rack)
		return
	}
	u.Site()
}

// Site wakes the site.
func (u *Units) Site() { u.Racks.Wake(SiteUnit) }

// Agent wakes the rack that an agent serves.
func (u *Units) Agent(agent string) {
	for _, r := range store.Find(u.objects, store.RacksByAgent, agent) {
		u.Rack(r.Metadata.Name)
	}
}

// Server has the rack of a server take its turn; one that is in no rack is the site's.
func (u *Units) Server(server string) {
	rack, err := u.objects.RackOf(server)
	if err != nil {
		rack = ""
	}
	u.Turn(rack)
}

// All wakes every unit.
func (u *Units) All() {
	for _, r := range store.List[*resource.Rack](u.objects) {
		u.Rack(r.Metadata.Name)
	}
	u.Site()
}

// Sweep wakes every unit once in sweepEvery, spread over it, until ctx ends.
func (u *Units) Sweep(ctx context.Context) {
	tick := time.NewTicker(sweepTick)
	defer tick.Stop()
	var round sweepRound
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if round.over() {
			round = newSweepRound(u.rackNames())
			u.Sweeping.Store(true)
			u.Site()
		}
		for _, rack := range round.next() {
			u.Turn(rack)
		}
	}
}

// sweepTicks is how many ticks a round of sweeps has.
const sweepTicks = int(SweepEvery / sweepTick)

// sweepRound has the racks that are still to be woken in this round.
type sweepRound struct {
	racks       []string
	ticks, done int
}

func newSweepRound(racks []string) sweepRound { return sweepRound{racks: racks} }

func (r *sweepRound) over() bool { return r.ticks == 0 || r.ticks == sweepTicks }

// next is whom a tick wakes.
func (r *sweepRound) next() []string {
	r.ticks++
	from := r.done
	r.done = len(r.racks) * r.ticks / sweepTicks
	return r.racks[from:r.done]
}

func (u *Units) rackNames() (out []string) {
	for _, r := range store.List[*resource.Rack](u.objects) {
		out = append(out, r.Metadata.Name)
	}
	return out
}
