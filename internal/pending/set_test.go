package pending

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// begin runs a set in a bubble until the test ends.
func begin(t *testing.T, do func(context.Context, string) error) *Set[string] {
	t.Helper()
	s := New(Config[string]{Do: do, Tried: func(string) {}, Timeout: 10 * time.Second, MinPause: 2 * time.Second, MaxPause: 15 * time.Second, Clock: time.Now})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		s.Run(ctx)
		close(ended)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return s
}

func TestPausesDouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("down")
		start := time.Now()
		var at []time.Duration
		s := begin(t, func(context.Context, string) error {
			at = append(at, time.Since(start))
			if len(at) < 6 {
				return down
			}
			return nil
		})
		s.Add("a")
		s.Add("a") // once
		synctest.Wait()
		if done, err := s.State("a"); done || !errors.Is(err, down) {
			t.Errorf("done %t, %v after the first failure", done, err)
		}
		if n := s.Open(); n != 1 {
			t.Errorf("%d are open after the first failure", n)
		}
		time.Sleep(2 * time.Minute) // the bubble's clock
		if done, err := s.State("a"); !done || err != nil {
			t.Errorf("done %t, %v", done, err)
		}
		if n := s.Open(); n != 0 {
			t.Errorf("%d are open at the end", n)
		}
		want := []time.Duration{0, 2 * time.Second, 6 * time.Second, 14 * time.Second, 29 * time.Second, 44 * time.Second}
		if !slices.Equal(at, want) {
			t.Errorf("tried at %v, want %v", at, want)
		}
	})
}

func TestOneFailureKeepsNoOtherWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, func(_ context.Context, key string) error {
			if key == "bad" {
				return errors.New("no")
			}
			return nil
		})
		s.Add("bad")
		synctest.Wait()
		s.Add("good")
		synctest.Wait()
		if done, _ := s.State("good"); !done {
			t.Error("good waits for bad")
		}
	})
}

func TestTimeoutAndDrop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		s := begin(t, func(ctx context.Context, _ string) error {
			calls++
			<-ctx.Done()
			return ctx.Err()
		})
		s.Add("hangs")
		time.Sleep(11 * time.Second)
		if done, err := s.State("hangs"); done || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("done %t, %v", done, err)
		}
		s.Keep(func(string) bool { return false })
		time.Sleep(time.Hour)
		if done, err := s.State("hangs"); done || err != nil || calls != 1 {
			t.Errorf("dropped: done %t, %v, %d calls", done, err, calls)
		}
	})
}

// lanes is a set of things that are named LANE/NAME, in a bubble until the test ends.
func lanes(t *testing.T, most int, do func(context.Context, string) error) *Set[string] {
	t.Helper()
	s := New(Config[string]{
		Do: do, Tried: func(string) {}, Timeout: time.Minute, MinPause: 2 * time.Second, MaxPause: time.Minute, Clock: time.Now, Lanes: most,
		Lane: func(key string) string { name, _, _ := strings.Cut(key, "/"); return name },
		Away: func(err error) bool { return errors.Is(err, errAway) || errors.Is(err, context.DeadlineExceeded) },
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		s.Run(ctx)
		close(ended)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return s
}

var errAway = errors.New("away")

// TestLaneThatHangs: five things of a lane that hangs keep none of another waiting, are tried one after
// the other, and all say why they wait.
func TestLaneThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		at, now := []string{}, 0
		start := time.Now()
		s := lanes(t, 4, func(ctx context.Context, key string) error {
			if !strings.HasPrefix(key, "hangs/") {
				return nil
			}
			mu.Lock()
			if now++; now > 1 {
				t.Errorf("%s is one of %d at once", key, now)
			}
			at = append(at, key+" "+time.Since(start).String())
			mu.Unlock()
			<-ctx.Done()
			mu.Lock()
			now--
			mu.Unlock()
			return ctx.Err()
		})
		for _, k := range []string{"hangs/1", "hangs/2", "hangs/3", "hangs/4", "hangs/5"} {
			s.Add(k)
		}
		synctest.Wait()
		s.Add("well/1")
		synctest.Wait()
		if done, _ := s.State("well/1"); !done {
			t.Error("a lane waits for another")
		}
		if w := s.Waiting(); w["hangs"].Open != 5 || w["hangs"].Away || !w["hangs"].Since.Equal(start) || len(w) != 1 {
			t.Errorf("%+v", w)
		}
		time.Sleep(61 * time.Second)
		for _, k := range []string{"hangs/1", "hangs/5"} {
			if done, err := s.State(k); done || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: done %t, %v", k, done, err)
			}
		}
		if w := s.Waiting()["hangs"]; !w.Away || !w.Until.Equal(start.Add(62*time.Second)) {
			t.Errorf("%+v", w)
		}
		time.Sleep(5 * time.Minute)
		mu.Lock()
		defer mu.Unlock()
		// The lane's pauses are 2, 4, 8 and 16 s.
		want := []string{"hangs/1 0s", "hangs/2 1m2s", "hangs/3 2m6s", "hangs/4 3m14s", "hangs/5 4m30s"}
		if !slices.Equal(at, want) {
			t.Errorf("tried %v, want %v", at, want)
		}
	})
}

// TestLaneComesBack: what waited for a lane goes on as soon as one of it is answered, also by no.
func TestLaneComesBack(t *testing.T) {
	for _, answer := range []error{nil, errors.New("no such image")} {
		synctest.Test(t, func(t *testing.T) {
			var tries atomic.Int64
			s := lanes(t, 1, func(context.Context, string) error {
				switch n := tries.Add(1); {
				case n < 3:
					return errAway
				case n == 3:
					return answer
				}
				return nil
			})
			for _, k := range []string{"a/1", "a/2", "a/3", "a/4"} {
				s.Add(k)
			}
			time.Sleep(5 * time.Second)
			synctest.Wait()
			if n := tries.Load(); n != 2 {
				t.Errorf("%d tries in 5 s", n)
			}
			time.Sleep(2 * time.Second) // 2 s and 4 s of pause
			synctest.Wait()
			if done, err := s.State("a/4"); !done || err != nil {
				t.Errorf("answered %v, and the last of the lane: done %t, %v", answer, done, err)
			}
		})
	}
}

// TestLanesAtOnce: so many lanes as are allowed, and no more; and what is forgotten leaves nothing.
func TestLanesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		s := lanes(t, 3, func(context.Context, string) error {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(10 * time.Second)
			now.Add(-1)
			return nil
		})
		for _, k := range []string{"a/1", "b/1", "c/1", "d/1", "e/1", "a/2"} {
			s.Add(k)
		}
		time.Sleep(21 * time.Second)
		synctest.Wait()
		if n := s.Open(); n != 0 || most.Load() != 3 {
			t.Errorf("%d are open after two rounds, %d at once", n, most.Load())
		}
		s.Drop("a/1")
		s.Keep(func(string) bool { return false })
		if len(s.lanes) != 0 || s.busy != 0 {
			t.Errorf("%d lanes are kept, %d busy", len(s.lanes), s.busy)
		}
	})
}

// What becomes due is found without a look at all that waits: twice as many take twice as long.
func BenchmarkMany(b *testing.B) {
	for _, n := range []int{10_000, 20_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				s := New(Config[int]{
					Do: func(context.Context, int) error { return nil }, Tried: func(int) {},
					Timeout: time.Second, MinPause: time.Second, MaxPause: time.Second, Clock: time.Now,
				})
				for k := range n {
					s.Add(k)
				}
				s.Work(b.Context())
				if s.Open() > 0 {
					b.Fatal("some are left")
				}
			}
		})
	}
}
