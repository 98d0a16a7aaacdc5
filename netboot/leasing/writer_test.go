package leasing

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/netboot"
)

// disk is a lease store whose every write waits for the test, and notes how many leases it was given.
type disk struct {
	let chan error

	mu     sync.Mutex
	groups []int
}

func (*disk) Load(string) ([]netboot.Lease, error)        { return nil, nil }
func (*disk) Delete(context.Context, netboot.Lease) error { return nil }

func (d *disk) Put(ctx context.Context, leases ...netboot.Lease) error {
	d.mu.Lock()
	d.groups = append(d.groups, len(leases))
	d.mu.Unlock()
	select {
	case err := <-d.let:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *disk) written() []int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.groups)
}

// told is what was told of each lease, by its address.
type told struct {
	mu sync.Mutex
	of map[netip.Addr][]error
}

func (o *told) put(ctx context.Context, w *Writer[netboot.Lease], n int) {
	a := netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)})
	w.Put(ctx, Written[netboot.Lease]{Lease: netboot.Lease{Address: a}, Then: func(_ context.Context, err error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.of[a] = append(o.of[a], err)
	}})
}

func (o *told) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.of)
}

// TestWriter: leases that come during a write share the next one, and nobody is told before his is done. An error is told to
// all whose write failed, and to no others. A store that stands still ends with an error, and nothing is left when
// the writer ends.
func TestWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("fsync: input/output error")
		d, o := &disk{let: make(chan error)}, &told{of: map[netip.Addr][]error{}}
		w := NewWriter(Records[netboot.Lease]{Store: d})
		err := w.While(t.Context(), func() error {
			put := func(from, to int) {
				for n := from; n < to; n++ {
					o.put(t.Context(), w, n)
				}
				synctest.Wait()
			}
			put(0, 1)
			put(1, 1+together+5)
			if n := o.count(); n != 0 || w.Waiting() != together+5 {
				t.Errorf("%d are told before a write is done, %d wait", n, w.Waiting())
			}
			for _, step := range []struct {
				err  error
				told int
			}{{nil, 1}, {broken, 1 + together}, {nil, 1 + together + 5}} {
				d.let <- step.err
				synctest.Wait()
				if n := o.count(); n != step.told {
					t.Errorf("%d are told, want %d", n, step.told)
				}
			}
			put(300, 302) // one of them while the other's write stands still, both for StoreTimeout
			time.Sleep(3 * StoreTimeout)
			if n := o.count(); n != 1+together+5+2 {
				t.Errorf("%d are told of a store that stands still", n)
			}
			o.put(t.Context(), w, 400) // nobody waits for this one
			return broken
		})
		if !errors.Is(err, broken) {
			t.Error(err)
		}
		if got := d.written(); !slices.Equal(got, []int{1, together, 5, 1, 1, 1}) && !slices.Equal(got, []int{1, together, 5, 2, 1}) {
			t.Errorf("writes of %v leases", got)
		}
		failed := map[error]int{}
		for a, errs := range o.of {
			if len(errs) != 1 {
				t.Errorf("%s is told %v", a, errs)
			}
			failed[errs[0]]++
		}
		if failed[nil] != 1+5 || failed[broken] != together || failed[context.DeadlineExceeded] != 3 {
			t.Errorf("told %v", failed)
		}
	})
}

// TestWriterIsFull: who hands over a lease waits while there is no room, and gives away his turn for that time.
func TestWriterIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, o := &disk{let: make(chan error)}, &told{of: map[netip.Addr][]error{}}
		w := NewWriter(Records[netboot.Lease]{Store: d})
		passed := 0
		ctx := context.WithValue(t.Context(), turnKey{}, &turn{pass: func() { passed++ }})
		err := w.While(t.Context(), func() error {
			o.put(ctx, w, 0)
			synctest.Wait()
			for n := range QueueLength {
				o.put(ctx, w, 1+n)
			}
			if passed != 0 {
				t.Error("the turn is given away though there is room")
			}
			go func() {
				synctest.Wait()
				close(d.let)
			}()
			o.put(ctx, w, 1+QueueLength)
			return nil
		})
		if err != nil || passed != 1 || o.count() != QueueLength+2 {
			t.Errorf("%v, the turn was given away %d times, %d told", err, passed, o.count())
		}
	})
}
