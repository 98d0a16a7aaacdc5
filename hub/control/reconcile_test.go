package control

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"

	"rackboot/hub/store"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// reconcile takes a turn of every unit, as the sweeps do, and then of each that is woken by what
// was written, until nothing is left to do. A turn that fails is not taken again.
func (c *Control) reconcile(ctx context.Context) error {
	c.wake.Sweeping.Store(true)
	c.wake.All()
	deltas, stop := c.cfg.Store.Deltas()
	defer stop()
	return c.settle(ctx, deltas, nil)
}

// maxSettle is how many turns may follow from one another before something goes round.
const maxSettle = 5000

// settle takes the turns of the units that were woken, and of those that they wake: in line, or
// in any order.
func (c *Control) settle(ctx context.Context, deltas *store.Deltas, rnd *rand.Rand) error {
	var errs []error
	failed := map[string]bool{}
	for n := 0; ; n++ {
		c.wake.By(deltas)
		lines := [][]string{c.wake.Racks.Take(), c.wake.Holds.Take()}
		var todo []string
		for i, line := range lines {
			for _, unit := range line {
				if i == 1 {
					unit = holdUnits + unit
				}
				if !failed[unit] {
					todo = append(todo, unit)
				}
			}
		}
		if len(todo) == 0 || c.fence.SteppedDown() {
			return errors.Join(errs...)
		}
		if n > maxSettle {
			return errors.Join(append(errs, errors.New("the turns never end: "+strings.Join(todo, ", ")))...)
		}
		if rnd != nil {
			rnd.Shuffle(len(todo), func(i, j int) { todo[i], todo[j] = todo[j], todo[i] })
		}
		next, rest := todo[0], todo[1:]
		for _, unit := range rest {
			c.wakeTest(unit)
		}
		if err := c.turnTest(ctx, next); err != nil {
			failed[next] = true
			errs = append(errs, err)
		}
	}
}

// holdUnits begins the names of hold lanes in tests, where both queues are one.
const holdUnits = "holds/"

func (c *Control) wakeTest(unit string) {
	if rack, is := strings.CutPrefix(unit, holdUnits); is {
		c.wake.Holds.Wake(rack)
		return
	}
	c.wake.Racks.Wake(unit)
}

func (c *Control) turnTest(ctx context.Context, unit string) error {
	if rack, is := strings.CutPrefix(unit, holdUnits); is {
		return c.Outbound.Holds.Turn(ctx, rack)
	}
	return c.turn(ctx, unit)
}

// holdDocs brings the hold documents of all racks up to date, and nothing else; written are the agents
// for which that made another one.
func (c *Control) holdDocs(ctx context.Context) (written []string, err error) {
	for _, r := range store.List[*resource.Rack](c.cfg.Store.Objects) {
		agent := r.Status.Agent
		was, _ := c.cfg.Store.Ledgers.Peek(agent)
		err = errors.Join(err, c.Outbound.Holds.Enter(ctx, r.Metadata.Name))
		if is, _ := c.cfg.Store.Ledgers.Peek(agent); was != nil && is != nil && was.Sent[message.LeafHold].Head != is.Sent[message.LeafHold].Head {
			written = append(written, agent)
		}
	}
	return written, err
}

// sleep forgets whom to wake.
func (c *Control) sleep() {
	c.wake.Racks.Take()
	c.wake.Holds.Take()
}
