//go:build !race

package rack

import (
	"context"
	"fmt"
	"slices"

	"rackboot/agent/local"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// localOrder is something that a person does at the agent. All are safe to repeat.
type localOrder struct {
	Do  string // hold, confirm, release, resume
	Key string // of the hold
}

// carryOut does what people do, in order.
func carryOut(ctx context.Context, socket string, orders []localOrder) error {
	c := local.NewClient(socket)
	for _, o := range orders {
		if o.Do == "hold" {
			if _, err := c.Place(ctx, "server-1", api.HoldRequest{HoldTerms: resource.HoldTerms{Key: o.Key, Mode: resource.StopHard}}); err != nil {
				return err
			}
			continue
		}
		if o.Do == "resume" { // which is refused of a held server
			if _, err := c.Resume(ctx, "server-1", local.ResumeRequest{Reason: "smoke"}); err != nil {
				return err
			}
			continue
		}
		all, err := c.Holds(ctx)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(h local.Hold) bool { return h.Key == o.Key })
		switch {
		case i < 0 && o.Do == "release": // it was released before
		case i < 0:
			return fmt.Errorf("no hold with key %s", o.Key)
		case o.Do == "confirm":
			_, err = c.ConfirmDown(ctx, all[i].ID, api.ConfirmRequest{Reason: "cables are out"})
		default:
			_, err = c.Release(ctx, all[i].ID, api.ReleaseRequest{BreakGlass: "it burns"})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// localHolds goes over a hold that is placed and released at the agent, and one of
// the hub's whose glass is broken while its document goes on to name it.
func localHolds(b *crashBench) {
	b.claim(0)
	b.stage("claim", "booted")
	b.stage("local hold", "fenced")
	last := &b.stages[len(b.stages)-1]
	last.Local, last.Held = []localOrder{{"hold", "smoke"}, {"confirm", "smoke"}, {"resume", ""}}, true
	b.stage("local release", "freed")
	b.stages[len(b.stages)-1].Local = []localOrder{{"release", "smoke"}}
	b.held("hold-1", resource.StopHard)
	b.stage("hold", "fenced")
	b.stage("break glass", "freed")
	last = &b.stages[len(b.stages)-1]
	last.Local, last.Held = []localOrder{{"release", "hold-1"}}, false
	b.stage("the document names it still", "freed")
	b.stages[len(b.stages)-1].Held = false
}
