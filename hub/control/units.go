package control

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"rackboot/hub/store"
	"rackboot/hub/turns"
	"rackboot/protocol"
)

// The units of work are the racks, by name, and the site: what concerns several racks at once.
const (
	rackUnits = "rack/"
	siteUnit  = "site"
)

func rackUnit(rack string) string { return rackUnits + rack }

// rackWorkers is how many racks are worked on at once. A turn mostly waits for the store.
const rackWorkers = 4

// sweepEvery is how often each unit has a turn though nothing was said to have changed: time
// itself decides some things, and a wake may be missing.
const sweepEvery = time.Minute

// units are the queues of what there is to do, and who knows whom to wake. It is safe for
// concurrent use.
type units struct {
	store *store.Store
	racks *turns.Queue // and the site
	holds *turns.Queue // the hold documents, by rack; these wait for nothing else
	// unbound and grouped are whether the last turn of the site found claims without a server,
	// and groups: then more of what happens in racks is news for it.
	unbound, grouped atomic.Bool
	// sharing is held by the turns of racks together, and alone by what gives servers to claims
	// and to roll-outs: those count what the racks spend.
	sharing sync.RWMutex
	// sweep is whether the site's next turn looks for what nobody needs any more.
	sweep atomic.Bool
	// warnings bounds what is logged of turns that fail: on a full disk all of them may, and
	// rackboot_hub_turns_failed_total counts each.
	warnings *rate.Limiter
}

// warnBurst is how many turns that failed are logged at once; then one a second.
const warnBurst = 20

func newUnits(c *Control) *units {
	u := &units{store: c.cfg.Store, warnings: rate.NewLimiter(1, warnBurst)}
	u.racks = turns.New(turns.Config{Do: c.turn, Workers: rackWorkers, Rest: rest, Again: againAfter, Done: func(unit string, took time.Duration, err error) {
		c.metrics.turned(laneOf(unit), took, err)
		if err != nil && u.warnings.Allow() {
			c.log.Warn("another turn is taken", "unit", unit, "err", err)
		}
	}})
	u.holds = turns.New(turns.Config{Do: c.holdTurn, Workers: rackWorkers, Again: againAfter, Done: func(rack string, took time.Duration, err error) {
		c.metrics.turned(laneHolds, took, err)
		if err != nil && u.warnings.Allow() {
			c.log.Warn("make the hold document again", "rack", rack, "err", err)
		}
	}})
	u.sweep.Store(true)
	return u
}

// lane is a label of rackboot_hub_turn_seconds.
type lane string

const (
	laneRack  lane = "rack"
	laneSite  lane = "site"
	laneHolds lane = "holds"
)

func laneOf(unit string) lane {
	if unit == siteUnit {
		return laneSite
	}
	return laneRack
}

func (m *metrics) turned(l lane, took time.Duration, err error) {
	m.turns.WithLabelValues(string(l)).Observe(took.Seconds())
	if err != nil {
		m.turnsFailed.WithLabelValues(string(l)).Inc()
	}
}

// turn is one turn of a unit.
func (c *Control) turn(ctx context.Context, unit string) error {
	if c.fence.SteppedDown() {
		return nil
	}
	if rack, is := strings.CutPrefix(unit, rackUnits); is {
		return c.rackTurn(ctx, rack)
	}
	return c.siteTurn(ctx)
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
	if unit == siteUnit { // its turn may be about the whole fleet
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

// wakeRack has the hold document of a rack made, and its turn taken.
func (u *units) wakeRack(rack string) {
	if rack == "" {
		u.wakeSite()
		return
	}
	u.holds.Wake(rack)
	u.racks.Wake(rackUnit(rack))
}

// wakeUnit wakes a unit, or what is a part of the site's.
func (u *units) wakeUnit(unit string) {
	if rack, is := strings.CutPrefix(unit, rackUnits); is {
		u.wakeRack(rack)
		return
	}
	u.wakeSite()
}

func (u *units) wakeSite() { u.racks.Wake(siteUnit) }

// wakeAgent wakes the rack that an agent serves.
func (u *units) wakeAgent(agent string) {
	for _, r := range store.Find(u.store, store.RacksByAgent, agent) {
		u.wakeRack(r.Metadata.Name)
	}
}

// wakeServer wakes the rack of a server; one that is in no rack is the site's.
func (u *units) wakeServer(server string) {
	rack, err := u.store.RackOf(server)
	if err != nil {
		rack = ""
	}
	u.wakeRack(rack)
}

// wakeAll wakes every unit.
func (u *units) wakeAll() {
	for _, r := range store.List[*protocol.Rack](u.store) {
		u.wakeRack(r.Metadata.Name)
	}
	u.wakeSite()
}

// sweeps wakes every unit once in sweepEvery, spread over it, until ctx ends.
func (u *units) sweeps(ctx context.Context) {
	tick := time.NewTicker(tickPause)
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
			u.sweep.Store(true)
			u.wakeSite()
		}
		for _, rack := range round.next() {
			u.wakeRack(rack)
		}
	}
}

// sweepTicks is how many ticks a round of sweeps has.
const sweepTicks = int(sweepEvery / tickPause)

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

func (u *units) rackNames() (out []string) {
	for _, r := range store.List[*protocol.Rack](u.store) {
		out = append(out, r.Metadata.Name)
	}
	return out
}
