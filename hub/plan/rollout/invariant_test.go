package rollout

import (
	"fmt"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// check holds what a step ordered against the world as it is, not as the step was told.
func (w *world) check(out Result) error {
	down := 0
	for _, b := range w.boxes {
		if !b.serving || b.held || w.dark[b.rack] || b.order != nil || !b.busyUntil.IsZero() {
			down++
		}
	}
	most, _ := w.spec.MaxUnavailable.Of(len(w.boxes))
	most = max(most, 1)
	seen := map[string]bool{}
	for _, o := range out.Orders {
		b, m := w.boxes[o.Server], out.Status.Members[o.Server]
		if b == nil {
			return fmt.Errorf("gone: an order to %s, which has left", o.Server)
		}
		if seen[o.Server] {
			return fmt.Errorf("twice: two orders to %s in one step", o.Server)
		}
		seen[o.Server] = true
		again := b.ordered.Equal(o.At)
		if !again && (b.order != nil || !b.busyUntil.IsZero()) {
			return fmt.Errorf("flight: %s to %s, with which %s is under way", o.Kind, o.Server, b.going)
		}
		if b.held || w.dark[b.rack] {
			return fmt.Errorf("away: %s to %s, which is held or dark", o.Kind, o.Server)
		}
		if err := w.may(o, m, out.Status); err != nil {
			return err
		}
		if !again && b.serving {
			if down++; down > most {
				return fmt.Errorf("room: %s to %s makes %d of %d unavailable", o.Kind, o.Server, down, most)
			}
		}
	}
	return nil
}

// may says why an order may not be given.
func (w *world) may(o Order, m resource.RolloutMember, st resource.RolloutStatus) error {
	switch {
	case w.spec.Strategy == resource.RolloutOnNextBoot:
		return fmt.Errorf("strategy: %s to %s by %s", o.Kind, o.Server, w.spec.Strategy)
	case w.spec.Strategy == resource.RolloutReprovision && !w.approved[o.Server]:
		return fmt.Errorf("approval: %s to %s", o.Kind, o.Server)
	case w.spec.Freeze, !w.open():
		return fmt.Errorf("window: %s to %s at %s", o.Kind, o.Server, w.now)
	case st.Phase == resource.RolloutPaused, st.Phase == resource.RolloutAborted:
		return fmt.Errorf("paused: %s to %s", o.Kind, o.Server)
	case o.Kind != OrderReturn && !w.stamped && m.Wave != 0:
		return fmt.Errorf("stamp: %s to %s of wave %d without a stamp", o.Kind, o.Server, m.Wave)
	case o.Kind != OrderReturn && w.current != newImage:
		return fmt.Errorf("rejected: %s to %s after the roll-back", o.Kind, o.Server)
	}
	return nil
}

// night is the window of these tests; open says the same without the code under test.
func night() []resource.RolloutWindow {
	return []resource.RolloutWindow{{Start: "22:00", Duration: protocol.Duration(4 * time.Hour)}}
}

func (w *world) open() bool {
	return len(w.spec.Windows) == 0 || w.now.Hour() >= 22 || w.now.Hour() < 2
}
