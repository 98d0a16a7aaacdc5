package turns

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// begin runs a queue in a bubble until the test ends.
func begin(t *testing.T, cfg Config) *Queue {
	t.Helper()
	if cfg.Again == nil {
		cfg.Again = func(string, error, int) time.Duration { return time.Second }
	}
	q := New(cfg)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		q.Run(ctx)
		close(ended)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return q
}

// A unit that is woken while its turn runs has another one, and never two at once. Another
// unit does not wait for it.
func TestOneTurnOfAUnitAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn, turns := make(chan struct{}), map[string]int{}
		var mu sync.Mutex
		q := begin(t, Config{Workers: 2, Do: func(_ context.Context, unit string) error {
			mu.Lock()
			turns[unit]++
			mu.Unlock()
			if unit == "slow" {
				<-goOn
			}
			return nil
		}})
		seen := func() map[string]int {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return maps.Clone(turns)
		}
		q.Wake("slow")
		if got := seen(); got["slow"] != 1 {
			t.Fatal(got)
		}
		for range 3 {
			q.Wake("slow", "quick")
			seen()
		}
		if got := seen(); got["slow"] != 1 || got["quick"] != 3 {
			t.Errorf("%v while the slow one runs", got)
		}
		if n := q.Waiting(); n != 1 {
			t.Errorf("%d wait, and the slow one should", n)
		}
		goOn <- struct{}{}
		if got := seen(); got["slow"] != 2 {
			t.Errorf("%v after it", got)
		}
		close(goOn)
		if got := seen(); got["slow"] != 2 || q.Waiting() != 0 {
			t.Errorf("%v at the end, %d wait", got, q.Waiting())
		}
	})
}

// What fails is made again after a pause, and keeps no other waiting; a rest is kept also
// where a unit is woken within it.
func TestPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		at := map[string][]time.Duration{}
		q := begin(t, Config{
			Workers: 1,
			Do: func(_ context.Context, unit string) error {
				at[unit] = append(at[unit], time.Since(start))
				if unit == "bad" && len(at[unit]) < 4 {
					return errors.New("no")
				}
				if unit == "long" {
					time.Sleep(time.Second) // the bubble's clock
				}
				return nil
			},
			Again: func(_ string, _ error, n int) time.Duration { return time.Duration(n) * 10 * time.Second },
			Rest:  func(_ string, took time.Duration) time.Duration { return 2 * took },
		})
		q.Wake("bad", "good")
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if want := []time.Duration{0, 10 * time.Second, 30 * time.Second, time.Minute}; !slices.Equal(at["bad"], want) || len(at["good"]) != 1 {
			t.Errorf("at %v", at)
		}
		begun := time.Since(start)
		q.Wake("long")
		time.Sleep(1500 * time.Millisecond)
		q.Wake("long", "long")
		q.Wake("long")
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := []time.Duration{begun, begun + 3*time.Second}; !slices.Equal(at["long"], want) {
			t.Errorf("long at %v, want %v", at["long"], want)
		}
		if len(q.units) != 0 {
			t.Errorf("what has nothing to do is kept: %v", q.units)
		}
	})
}

// Whatever the order of wakes, ends and failures: no unit ever has two turns at once, each wake
// is followed by a turn that begins after it, and nothing is left at the end.
func TestEachWakeIsFollowedByATurn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		workers, wakes := rapid.IntRange(1, 4).Draw(rt, "workers"), rapid.IntRange(1, 60).Draw(rt, "wakes")
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			running, begun, woken := map[string]int{}, map[string]int{}, map[string]int{}
			n := 0
			draw := func(limit int) int { // the rapid.T is for one goroutine
				n = (n*1103515245 + 12345 + workers) & 0x7fffffff
				return (n >> 8) % limit
			}
			q := begin(t, Config{
				Workers: workers,
				Do: func(_ context.Context, unit string) error {
					mu.Lock()
					if running[unit]++; running[unit] > 1 {
						t.Errorf("two turns of %s at once", unit)
					}
					begun[unit] = woken[unit] // what this turn sees
					long, bad := time.Duration(draw(50))*time.Millisecond, draw(4) == 0
					mu.Unlock()
					time.Sleep(long)
					mu.Lock()
					running[unit]--
					mu.Unlock()
					if bad {
						return errors.New("no")
					}
					return nil
				},
				Rest: func(_ string, took time.Duration) time.Duration { return took },
			})
			for range wakes {
				unit := fmt.Sprintf("u%d", rapid.IntRange(0, 5).Draw(rt, "unit"))
				mu.Lock()
				woken[unit]++
				mu.Unlock()
				q.Wake(unit)
				time.Sleep(time.Duration(rapid.IntRange(0, 30).Draw(rt, "pause")) * time.Millisecond)
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			if !maps.Equal(begun, woken) || q.Waiting() != 0 || len(q.units) != 0 {
				t.Errorf("woken %v, the last turns saw %v; %d wait, %d are kept", woken, begun, q.Waiting(), len(q.units))
			}
		})
	})
}
