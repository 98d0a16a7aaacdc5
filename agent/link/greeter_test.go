package link

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// greeting runs a greeter in a bubble and keeps when it said Hello.
func greeting(t *testing.T, do func(g *greeter, said func() []time.Duration)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		g := newGreeter(time.Now)
		var all []time.Duration
		done := make(chan struct{})
		go func() {
			g.run(ctx, func() { all = append(all, time.Since(start)) }, func() {})
			close(done)
		}()
		do(g, func() []time.Duration {
			synctest.Wait()
			return all
		})
		cancel()
		<-done
	})
}

// TestHelloPause: whatever asks for Hellos, and however often, two of them are apart
// by the pause, which grows while none is answered and starts again when one is.
func TestHelloPause(t *testing.T) {
	greeting(t, func(g *greeter, said func() []time.Duration) {
		if time.Sleep(time.Hour); len(said()) != 0 {
			t.Fatalf("Hello for no reason: %v", said())
		}
		for range 6000 {
			g.ask(0)
			time.Sleep(100 * time.Millisecond)
		}
		all := said()
		for i := 1; i < len(all); i++ {
			if d := all[i] - all[i-1]; d < helloPause || d > helloPauseMax*3/2+lookEvery {
				t.Errorf("a pause of %v", d)
			}
		}
		if n := len(all); n < 13 || n > 60 {
			t.Errorf("%d Hellos in ten minutes: %v", n, all)
		}
		if last := all[len(all)-1] - all[len(all)-2]; last < helloPauseMax/2 {
			t.Errorf("the last pause is %v", last)
		}
		g.answered()
		n := len(said())
		if time.Sleep(time.Hour); len(said()) != n {
			t.Error("Hello after the answer")
		}
		g.ask(0)
		if all := said(); len(all) != n+1 {
			t.Errorf("no Hello at once: %v", all[n:])
		}
	})
}

// TestHelloReply: what the hub itself asks for goes at once, a few times.
func TestHelloReply(t *testing.T) {
	greeting(t, func(g *greeter, said func() []time.Duration) {
		g.fresh()
		said()
		for range 2 {
			g.reply()
			said()
		}
		if n := len(said()); n != 3 {
			t.Errorf("%d Hellos at once", n)
		}
		for range 600 { // a hub that is never content
			g.reply()
			time.Sleep(100 * time.Millisecond)
		}
		// At 0 s four: one of the connection and three of leave; with the shortest pauses at
		// 2, 4, 8 and 16 s; leave again at 30 s, and 2, 4, 8 and 16 s after.
		if n := len(said()); n > 13 {
			t.Errorf("%d Hellos in a minute", n)
		}
	})
}

// TestHelloLater: an answer to an announcement comes when it was drawn to come.
func TestHelloLater(t *testing.T) {
	greeting(t, func(g *greeter, said func() []time.Duration) {
		g.ask(40 * time.Second)
		time.Sleep(39 * time.Second)
		if len(said()) != 0 {
			t.Error("too early")
		}
		g.ask(50 * time.Second)
		time.Sleep(2 * time.Second)
		if len(said()) != 1 {
			t.Error("too late")
		}
	})
}

// A look that asks each time for what is wanted already does not keep the greeter
// from sleeping.
func TestLookThatAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGreeter(time.Now)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		looks := 0
		g.run(ctx, func() {}, func() {
			g.ask(0)
			if looks++; looks > 1000 {
				cancel()
			}
		})
		if looks > 1000 {
			t.Error("it looks again and again")
		}
	})
}
