package sharing

import (
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/hub/plan/hubs"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/internal/doctable"
	"rackboot/protocol"
)

func TestStates(t *testing.T) {
	doctable.Of(t, "hubs.go", "stateOf").HoldOne(t, [][]string{doctable.Words(hubs.Alive, hubs.Unseen, hubs.Dead), doctable.YesNo(), doctable.YesNo()}, func(in []string) string {
		return string(stateOf(hubs.Life(in[0]), in[1] == "yes", in[2] == "yes"))
	})
}

// shows is what a hub shows of all, by their names.
func (h *hub) shows() map[string]string {
	out := map[string]string{}
	for _, s := range h.room.Hubs() {
		out[s.Name] = fmt.Sprintf("%s, %d racks", s.State, s.Racks)
		if s.Answers != (s.Name == h.name) {
			h.t.Errorf("%s says that it answers: %v", s.Name, s.Answers)
		}
	}
	return out
}

// All hubs show the same of one another, also of one that was cut off or has ended; who is cut off shows itself as silent.
func TestHubsAreShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := storetest.NewMemory()
		site(t, mem)
		a := startHub(t, mem, "a")
		never(t, 7*time.Second, a)
		b := startHub(t, mem, "b")
		never(t, 20*time.Second, a, b)
		one, other := a, b
		if b.works() != "" {
			one, other = b, a
		}
		want := map[string]string{one.name: "Works, 3 racks", other.name: "Standby, 0 racks"}
		if got := []any{a.shows(), b.shows()}; !reflect.DeepEqual(got, []any{want, want}) {
			t.Fatalf("a and b show %v, want %v", got, want)
		}
		status, err := other.room.Hub(one.name)
		if err != nil || len(status.Units) != 4 || status.Since == nil {
			t.Errorf("who works is shown as %+v, %v", status, err)
		}
		if _, err := other.room.Hub("c"); protocol.CodeOf(err) != protocol.CodeNotFound || protocol.HintOf(err) == "" {
			t.Errorf("one that is not there is shown: %v", err)
		}

		one.mem.cut()
		never(t, 12*time.Second, a, b)
		want = map[string]string{one.name: "Silent, 0 racks", other.name: "Works, 3 racks"}
		if got := other.shows(); !reflect.DeepEqual(got, want) {
			t.Errorf("who took over shows %v, want %v", got, want)
		}
		if status, err := other.room.Hub(other.name); err != nil || status.Before != one.name {
			t.Errorf("who took over is shown as %+v, %v", status, err)
		}
		if got := one.shows()[one.name]; got != "Silent, 0 racks" {
			t.Errorf("who is cut off shows itself as %s", got)
		}
		one.mem.heal()
		never(t, 20*time.Second, a, b)
		if err := one.stop(); err != nil {
			t.Fatal(err)
		}
		never(t, 3*time.Second, a, b)
		want = map[string]string{other.name: "Works, 3 racks"}
		if got := other.shows(); !reflect.DeepEqual(got, want) {
			t.Errorf("once the other one has ended %v are shown", got)
		}
	})
}

// A hub that ends is without work before it has ended, and nobody works what another one works; with nobody to take over
// it does not wait.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := storetest.NewMemory()
		site(t, mem)
		a, b := startHub(t, mem, "a"), startHub(t, mem, "b")
		never(t, 20*time.Second, a, b)
		one, other := a, b
		if b.works() != "" {
			one, other = b, a
		}
		begun, done := time.Now(), make(chan time.Duration, 1)
		go func() {
			one.room.Drain(t.Context())
			done <- time.Since(begun)
		}()
		never(t, 3*time.Second, a, b)
		select {
		case took := <-done:
			if took > 2*hubs.BeatEvery {
				t.Errorf("it took %v", took)
			}
		default:
			t.Fatal("nobody took over within 3 s")
		}
		if one.works() != "" || other.works() != everything {
			t.Fatalf("who ends works %q, the other one %q", one.works(), other.works())
		}
		if got := other.shows()[one.name]; got != "Draining, 0 racks" {
			t.Errorf("who ends is shown as %s", got)
		}
		if err := one.stop(); err != nil {
			t.Fatal(err)
		}
		begun = time.Now()
		other.room.Drain(t.Context())
		if took := time.Since(begun); took > time.Second {
			t.Errorf("a hub that is alone waits for %v", took)
		}
		if other.works() != everything {
			t.Errorf("it has left %q", other.works())
		}
	})
}

// One that has just started is waited for; one that is there and takes nothing is not waited for longer than ten seconds.
func TestDrainWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := storetest.NewMemory()
		site(t, mem)
		a := startHub(t, mem, "a")
		never(t, 7*time.Second, a)
		b := startHub(t, mem, "b")
		never(t, time.Second, a, b)
		begun := time.Now()
		a.room.Drain(t.Context())
		if took := time.Since(begun); b.works() != everything || took < time.Second || took > hubs.SettledItself+3*time.Second {
			t.Errorf("after %v the new one works %q", took, b.works())
		}
		if err := a.stop(); err != nil {
			t.Fatal(err)
		}
		c := store.Hub{Name: "c", Run: "run-c"}
		ends := time.Now().Add(time.Minute)
		go func() { // it beats, and never takes anything
			for ; time.Now().Before(ends); time.Sleep(hubs.BeatEvery) {
				c.Beat++
				if err := b.store.Hubs.Put(t.Context(), &c); err != nil {
					t.Error(err)
				}
			}
		}()
		never(t, 10*time.Second, b)
		begun = time.Now()
		b.room.Drain(t.Context())
		if took := time.Since(begun); took < drainFor || took > drainFor+time.Second {
			t.Errorf("for one that takes nothing it waited %v", took)
		}
		time.Sleep(time.Until(ends) + time.Second)
	})
}
