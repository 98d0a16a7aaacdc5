package pending

import (
	"context"
	"errors"
	"slices"
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
