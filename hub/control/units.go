package control

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

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

// units are the queues of what there is to do, and what they know to wake.
type units struct {
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
}

func newUnits(c *Control) *units {
	u := &units{}
	u.racks = turns.New(turns.Config{Do: c.turn, Workers: rackWorkers, Rest: rest, Again: againAfter, Done: func(unit string, took time.Duration, err error) {
		c.metrics.turned(laneOf(unit), took, err)
		if err != nil {
			c.log.Warn("another turn is taken", "unit", unit, "err", err)
		}
	}})
	u.holds = turns.New(turns.Config{Do: c.holdTurn, Workers: rackWorkers, Again: againAfter, Done: func(rack string, took time.Duration, err error) {
		c.metrics.turned(laneHolds, took, err)
		if err != nil {
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
	if c.steppedDown() {
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
func (c *Control) wakeRack(rack string) {
	if rack == "" {
		c.wakeSite()
		return
	}
	c.units.holds.Wake(rack)
	c.units.racks.Wake(rackUnit(rack))
}

// wakeUnit wakes a unit, or what is a part of the site's.
func (c *Control) wakeUnit(unit string) {
	if rack, is := strings.CutPrefix(unit, rackUnits); is {
		c.wakeRack(rack)
		return
	}
	c.wakeSite()
}

func (c *Control) wakeSite() { c.units.racks.Wake(siteUnit) }

// wakeAgent wakes the rack that an agent serves.
func (c *Control) wakeAgent(agent string) {
	for _, r := range store.Find(c.cfg.Store, store.RacksByAgent, agent) {
		c.wakeRack(r.Metadata.Name)
	}
}

// wakeServer wakes the rack of a server; one that is in no rack is the site's.
func (c *Control) wakeServer(server string) {
	rack, err := c.cfg.Store.RackOf(server)
	if err != nil {
		rack = ""
	}
	c.wakeRack(rack)
}

// wakeAll wakes every unit.
func (c *Control) wakeAll() {
	for _, r := range store.List[*protocol.Rack](c.cfg.Store) {
		c.wakeRack(r.Metadata.Name)
	}
	c.wakeSite()
}

// sweeps wakes every unit once in sweepEvery, spread over it, until ctx ends.
func (c *Control) sweeps(ctx context.Context) {
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
			round = newSweepRound(c.rackNames())
			c.units.sweep.Store(true)
			c.wakeSite()
		}
		for _, rack := range round.next() {
			c.wakeRack(rack)
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

func (c *Control) rackNames() (out []string) {
	for _, r := range store.List[*protocol.Rack](c.cfg.Store) {
		out = append(out, r.Metadata.Name)
	}
	return out
}
