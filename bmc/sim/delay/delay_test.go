package delay

import (
	"testing"
	"testing/synctest"
	"time"
)

// What waits when it ends is not done, nor is what comes later; what was due is.
func TestLater(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		l := New()
		done := make(chan string, 3)
		l.After(time.Second, func() { done <- "due" })
		l.After(time.Hour, func() { done <- "waits" })
		time.Sleep(time.Minute)
		l.Stop()
		l.After(0, func() { done <- "late" })
		l.Wait()
		close(done)
		var got []string
		for what := range done {
			got = append(got, what)
		}
		if len(got) != 1 || got[0] != "due" || l.Context().Err() == nil {
			t.Errorf("done: %q, context %v", got, l.Context().Err())
		}
	})
}
