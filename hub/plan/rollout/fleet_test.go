package rollout

import (
	"fmt"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// fleetSpec is of a fleet of 20 racks with 50 servers each.
func fleetSpec() resource.RolloutSpec {
	return resource.RolloutSpec{
		Strategy: resource.RolloutReboot, Canary: resource.CanarySpec{Count: 3}, Waves: []resource.Share{"5%", "25%"},
		MaxUnavailable: "10%", OnFailure: resource.OnFailureRollback, Soak: protocol.Duration(15 * time.Minute),
	}
}

func fleet(seed uint64, spec resource.RolloutSpec) *world { return newWorld(seed, 20, 50, spec) }

// A bad image costs the canaries at most, and they return without anybody.
func TestFleetBadImage(t *testing.T) {
	for _, image := range []defect{broken, silent, relapse} {
		t.Run(string(image), func(t *testing.T) {
			w := fleet(1, fleetSpec())
			w.image, w.kills = image, 0.1
			if err := w.run(600, nil); err != nil {
				t.Fatal(err)
			}
			if w.status.Phase != resource.RolloutRolledBack || w.orders > 6 || w.current != oldImage || w.stamped {
				t.Errorf("%s after %d orders, current %s, stamped %v: %s", w.status.Phase, w.orders, w.current, w.stamped, w.status.Reason)
			}
		})
	}
}

// A sound image reaches everybody, though the hub dies again and again.
func TestFleetCompletes(t *testing.T) {
	w := fleet(2, fleetSpec())
	w.kills = 0.2
	if err := w.run(600, nil); err != nil {
		t.Fatal(err)
	}
	if w.orders != 1000 || w.states()[resource.MemberDone] != 1000 || !w.stamped {
		t.Errorf("%d orders, %v, stamped %v: %s", w.orders, w.states(), w.stamped, w.status.Reason)
	}
	t.Logf("1000 servers in %s", w.now.Sub(w.status.StartedAt))
}

// Servers that join take the image by themselves if it is stamped, and are begun in the
// last wave if not.
func TestFleetJoins(t *testing.T) {
	w := fleet(3, fleetSpec())
	if err := w.run(600, func(i int) {
		if i%5 == 0 && i < 100 {
			w.join(fmt.Sprintf("late-%02d", i), fmt.Sprintf("r%02d", i%20))
		}
	}); err != nil {
		t.Fatal(err)
	}
	if n := w.states()[resource.MemberDone]; n != 1020 || w.orders <= 1000 || w.orders >= 1020 {
		t.Errorf("%d are done after %d orders", n, w.orders)
	}
}

// A dark rack is waited for by nobody, and converges when it returns, after Completed.
func TestFleetDarkRack(t *testing.T) {
	w := fleet(4, fleetSpec())
	completed := -1
	if err := w.run(1200, func(i int) {
		w.dark["r07"] = i >= 20 && i < 700
		if w.status.Phase == resource.RolloutCompleted && completed < 0 {
			completed = i
			if n := w.states()[resource.MemberDone]; n < 950 || n == 1000 {
				t.Errorf("completed with %d done", n)
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	if n := w.states()[resource.MemberDone]; n != 1000 || completed < 0 || completed >= 700 {
		t.Errorf("%d are done, it was complete after %d minutes", n, completed)
	}
}
