package stream

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/protocol"
)

// mute is a BMC without a stream; its subscription comes and goes by hand.
type mute struct {
	mu                 sync.Mutex
	made, checked, off int
	there              bool
	err                error
}

func (x *mute) Events(context.Context, func()) error {
	return protocol.Errorf(protocol.CodeUnsupported, "events", "there are none")
}

func (x *mute) Subscribe(context.Context, string, string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.made++
	x.there = x.err == nil
	return x.err
}

func (x *mute) Check(context.Context) (bool, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.checked++
	return x.there, nil
}

func (x *mute) Unsubscribe(context.Context) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.off++
	return nil
}

func (x *mute) set(there bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.there, x.err = there, err
	x.made, x.checked = 0, 0
}

func (x *mute) counts() [3]int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return [3]int{x.made, x.checked, x.off}
}

// TestSubscription: one is made where there is no stream, looked at and made again,
// with growing pauses after failures; the next driver takes it over, and it is deleted
// with the agent's end.
func TestSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, server := streaming(t)
		const address = "https://10.0.0.9"
		run, end := context.WithCancel(t.Context())
		bmc, s := &mute{}, server("one")
		pass := func(d time.Duration, there bool, want [3]int) {
			t.Helper()
			time.Sleep(d) // simulated
			synctest.Wait()
			_, n := x.count()
			if got := bmc.counts(); got != want || (n == 1) != there {
				t.Fatalf("made, checked, deleted: %v, want %v; %d subscribed", got, want, n)
			}
		}
		x.Follow(run, address, bmc, s)
		pass(0, true, [3]int{1, 0, 0})
		pass(subscribedEvery*6/5, true, [3]int{1, 1, 0})
		bmc.set(false, nil)
		pass(subscribedEvery*6/5, true, [3]int{1, 1, 0})
		bmc.set(false, nil)
		x.Back(address)
		x.Back("https://10.0.0.10")
		pass(0, true, [3]int{1, 1, 0})

		bmc.set(false, protocol.Errorf(protocol.CodeUnavailable, "subscribe", "no more"))
		x.Back(address)
		pass(0, false, [3]int{1, 1, 0})
		time.Sleep(time.Hour)
		if n := bmc.counts()[0]; n < 12 || n > 30 {
			t.Fatalf("tried %d times in an hour", n)
		}
		bmc.set(false, nil)
		for waited := time.Duration(0); bmc.counts()[0] == 0; waited += time.Second {
			if waited > streamPauseMax*6/5 {
				t.Fatal("not tried again")
			}
			time.Sleep(time.Second) // simulated; what comes after the subscription is not due yet
			synctest.Wait()
		}
		pass(0, true, [3]int{1, 0, 0})
		x.Leave(address, s)
		pass(0, false, [3]int{1, 0, 0})

		x.Follow(run, address, bmc, s)
		pass(0, true, [3]int{2, 0, 0})
		end()
		pass(0, false, [3]int{2, 0, 1})
		x.Leave(address, s)

		for _, code := range []protocol.Code{protocol.CodeUnsupported, protocol.CodeDenied, protocol.CodeInvalid} {
			bmc = &mute{err: protocol.Errorf(code, "subscribe", "no")}
			x.Follow(t.Context(), address, bmc, s)
			pass(time.Hour, false, [3]int{1, 0, 0})
			x.Leave(address, s)
		}
	})
}

// TestHooks: paths are secret and of one BMC, and what comes too often is not read.
func TestHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		room, _ := streaming(t)
		x, woken := room.hooks, 0
		path, stop := x.open("one", func() { woken++ })
		other, _ := x.open("two", func() { t.Error("the other BMC's servers were woken") })
		if again, _ := x.open("one", func() { woken++ }); again != path || path == other || len(path) != len("/e/")+32 {
			t.Errorf("paths %s, %s, %s", path, again, other)
		}
		stop() // of the one before
		post := func(path, body string) int {
			w := httptest.NewRecorder()
			x.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
			return w.Code
		}
		for range 10 * hookBurst {
			if got := post(path, `{"Events":[{}]}`); got != http.StatusNoContent {
				t.Fatal(got)
			}
		}
		if woken != hookBurst {
			t.Errorf("%d events were read", woken)
		}
		time.Sleep(time.Second) // simulated
		for _, body := range []string{`{"Events":[{}]}`, `{"Events":[]}`, ``, `[`} {
			if got := post(path, body); got != http.StatusNoContent {
				t.Errorf("%q: %d", body, got)
			}
		}
		if woken != hookBurst+1 {
			t.Error("woken by what is no event, or not at all")
		}
		for _, unknown := range []string{"/e/", "/e/" + strings.Repeat("0", 32), path + "/x"} {
			if got := post(unknown, `{"Events":[{}]}`); got != http.StatusNotFound {
				t.Errorf("%s: %d", unknown, got)
			}
		}
	})
}
