package leasing

import (
	"context"
	"sync"

	"rackboot/netboot"
)

const (
	// together is how many leases are written at once.
	together = 256
	// groups is how many such groups are on disk and wait for their replies, before no other is written.
	groups = 2
)

// Written is a lease that somebody waits for.
type Written[L netboot.Lease | netboot.Lease6] struct {
	Lease L
	// Then is called once: when the lease is on disk, or with the error of why it is not.
	Then func(context.Context, error)
}

// Writer writes leases that come together by one Put, and tells whose they are by one goroutine that is woken for all
// of an fsync, not one for each. While it does, the next ones are written.
type Writer[L netboot.Lease | netboot.Lease6] struct {
	records Records[L]
	queue   chan Written[L]
}

// NewWriter makes one, to be used by one [Writer.While].
func NewWriter[L netboot.Lease | netboot.Lease6](r Records[L]) *Writer[L] {
	return &Writer[L]{records: r, queue: make(chan Written[L], QueueLength)}
}

// Put hands over a lease. It waits while so many wait as fit, each group of which takes [StoreTimeout] at
// the longest. It may be called only within [Writer.While].
func (w *Writer[L]) Put(ctx context.Context, l Written[L]) {
	select {
	case w.queue <- l:
	default:
		Waits(ctx)
		w.queue <- l
	}
}

// Waiting is how many leases wait to be written.
func (w *Writer[L]) Waiting() int { return len(w.queue) }

// While writes what is put by work, all of it before it returns.
func (w *Writer[L]) While(ctx context.Context, work func() error) error {
	var writing sync.WaitGroup
	done := make(chan outcome[L], groups)
	writing.Go(func() { w.write(ctx, done) })
	writing.Go(func() {
		for o := range done {
			for _, l := range o.group {
				l.Then(ctx, o.err)
			}
		}
	})
	err := work()
	close(w.queue)
	writing.Wait()
	return err
}

// outcome is of writing a group.
type outcome[L netboot.Lease | netboot.Lease6] struct {
	group []Written[L]
	err   error
}

// write takes what waits, but never waits for more: under load leases gather during the fsync of those before.
func (w *Writer[L]) write(ctx context.Context, done chan<- outcome[L]) {
	defer close(done)
	leases := make([]L, 0, together)
	for first := range w.queue {
		group := w.gather(first)
		leases = leases[:0]
		for _, l := range group {
			leases = append(leases, l.Lease)
		}
		done <- outcome[L]{group, w.records.Put(ctx, leases...)}
	}
}

func (w *Writer[L]) gather(first Written[L]) []Written[L] {
	group := append(make([]Written[L], 0, min(1+len(w.queue), together)), first)
	for len(group) < together {
		select {
		case l, ok := <-w.queue:
			if !ok {
				return group
			}
			group = append(group, l)
		default:
			return group
		}
	}
	return group
}
