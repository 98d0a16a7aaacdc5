package fair

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/protocol"
)

// One alone gets half, two a third each, and there is one left for whoever has none.
func TestShares(t *testing.T) {
	for callers, want := range []int{0, 128, 85, 64, 51} {
		p := New(256, 0)
		have := make([]int, callers)
		for range 256 {
			for i := range have {
				if ok, _ := p.Try(fmt.Sprint(i)); ok {
					have[i]++
				}
			}
		}
		for i, n := range have {
			if n < want || n > want+1 {
				t.Errorf("of %d callers the %d. has %d, want %d", callers, i, n, want)
			}
		}
		if ok, _ := p.Try("another"); !ok {
			t.Errorf("%d callers left nothing", callers)
		}
	}
}

// Whose the fault is, is told.
func TestOthers(t *testing.T) {
	p := New(2, 0)
	if ok, _ := p.Try("a"); !ok {
		t.Fatal("the first was refused")
	}
	if ok, others := p.Try("a"); ok || others {
		t.Errorf("a second of the same: %v, others %v", ok, others)
	}
	if ok, _ := p.Try("b"); !ok {
		t.Fatal("another was refused")
	}
	if ok, others := p.Try("c"); ok || !others {
		t.Errorf("without a place left: %v, others %v", ok, others)
	}
}

// However many of one wait, another waits for one of them at most.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 100)
		var order []string
		var wg sync.WaitGroup
		ask := func(name string) {
			wg.Go(func() {
				if err := p.Wait(t.Context(), name); err != nil {
					t.Error(err)
					return
				}
				order = append(order, name) // one at a time
				time.Sleep(time.Second)
				p.Leave(name)
			})
			synctest.Wait()
		}
		for range 50 {
			ask("greedy")
		}
		ask("b")
		ask("c")
		ask("b")
		if p.Waiting() != 52 {
			t.Errorf("%d wait", p.Waiting())
		}
		wg.Wait()
		if got := fmt.Sprint(order[:6]); got != "[greedy greedy b c greedy b]" || len(order) != 53 || p.Waiting() != 0 {
			t.Errorf("%s, %d in all, %d wait", got, len(order), p.Waiting())
		}
	})
}

// A line has a bound, and who has gone is not served.
func TestLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1, 2)
		if err := p.Wait(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		errs := make(chan error, 3)
		for range 3 {
			go func() { errs <- p.Wait(ctx, "a") }()
		}
		if err := <-errs; protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Errorf("the third: %v", err)
		}
		for range 2 {
			if err := <-errs; protocol.CodeOf(err) != protocol.CodeTimeout {
				t.Errorf("after its time: %v", err)
			}
		}
		p.Leave("a")
		if ok, _ := p.Try("b"); !ok || p.Waiting() != 0 || len(p.lines) != 0 {
			t.Errorf("%+v", p)
		}
	})
}

// Whatever comes, goes, and gives up: no place is lost or made, and nobody waits who may have one.
func TestPlacesKept(t *testing.T) {
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			n := 1 + r.IntN(6)
			p := New(n, 4)
			var wg sync.WaitGroup
			for range 60 {
				name, stay, patience := fmt.Sprint(r.IntN(4)), time.Duration(r.IntN(5))*time.Millisecond, time.Duration(r.IntN(6))*time.Millisecond
				wg.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					if p.Wait(ctx, name) != nil {
						return
					}
					time.Sleep(stay)
					p.Leave(name)
				})
				if r.IntN(3) == 0 {
					time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
					synctest.Wait()
					p.mu.Lock()
					held := 0
					for _, h := range p.held {
						held += h
					}
					waits := 0
					for _, l := range p.lines {
						waits += len(l.in)
						if p.may(l.name) {
							t.Errorf("seed %d: %s waits beside %d free ones, and has %d", seed, l.name, p.free, p.held[l.name])
						}
					}
					if held+p.free != n || waits != p.waits {
						t.Errorf("seed %d: %d held, %d free of %d; %d wait, %d counted", seed, held, p.free, n, waits, p.waits)
					}
					p.mu.Unlock()
				}
			}
			wg.Wait()
			if p.free != n || len(p.held) != 0 || p.waits != 0 || len(p.lines) != 0 {
				t.Errorf("seed %d: %+v at the end", seed, p)
			}
		})
	}
}
