package server

import (
	"context"
	"crypto/rand"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"rackboot/agent/store"
	"rackboot/bmc"
	"rackboot/protocol"
	"rackboot/state/statetest"
)

// slowDriver is a BMC of which each read takes a while, and says how the server was when it began.
type slowDriver struct {
	takes time.Duration
	power atomic.Pointer[protocol.PowerState]
	reads atomic.Int64
}

// Observe implements bmc.Driver.
func (d *slowDriver) Observe(ctx context.Context) (protocol.Observation, error) {
	d.reads.Add(1)
	o := protocol.Observation{Power: *d.power.Load()}
	select {
	case <-time.After(d.takes):
		return o, nil
	case <-ctx.Done():
		return protocol.Observation{Power: protocol.PowerUnreachable}, protocol.Errorf(protocol.CodeTimeout, "read", "no answer")
	}
}

func (*slowDriver) Capabilities(context.Context) (bmc.Capabilities, error) {
	return bmc.Capabilities{}, nil
}

func (*slowDriver) SetBoot(context.Context, protocol.Override) (bmc.BootResult, error) {
	return bmc.BootResult{}, nil
}

func (*slowDriver) Reset(context.Context, bmc.ResetType) error { return nil }

func (*slowDriver) Close() error { return nil }

func (d *slowDriver) is(p protocol.PowerState) { d.power.Store(&p) }

// slowRack is a room with one server, n1, whose loop runs.
func slowRack(t *testing.T, takes time.Duration) (*Loops, *slowDriver) {
	t.Helper()
	l, d, _ := slowRackOn(t, takes)
	return l, d
}

// slowRackOn is slowRack, with its disk.
func slowRackOn(t *testing.T, takes time.Duration) (*Loops, *slowDriver, *statetest.Memory) {
	t.Helper()
	disk := statetest.NewMemory()
	st, err := store.Open(store.Config{DB: disk, NewID: rand.Text})
	if err != nil {
		t.Fatal(err)
	}
	d := &slowDriver{takes: takes}
	d.is(protocol.PowerOff)
	cfg := config(t)
	cfg.Store = st
	document(t, st)
	cfg.OpenBMC = func(bmc.Target) (bmc.Driver, error) { return d, nil }
	ctx, cancel := context.WithCancel(t.Context())
	group := &errgroup.Group{}
	t.Cleanup(func() {
		cancel()
		_ = group.Wait() // loops return no errors
	})
	l := NewLoops()
	l.Begin(ctx, group, New(cfg))
	l.Wake("n1")
	return l, d, disk
}

// A caller is answered by a read that begins after the call, and not by one that is under way.
func TestReadBeginsAfterTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, d := slowRack(t, 4*time.Second)
		time.Sleep(time.Second)
		synctest.Wait() // the first read is under way, and will say Off
		d.is(protocol.PowerOn)
		asked := time.Now()
		r, err := l.Read(t.Context(), "n1")
		if err != nil || r.Power != protocol.PowerOn || r.StartedAt.Before(asked) || r.Server != "n1" {
			t.Errorf("%+v, %v, after %s", r, err, time.Since(asked))
		}
		if took := time.Since(asked); took != 7*time.Second {
			t.Errorf("it took %s, want the rest of the first read and the second", took)
		}
	})
}

// A read that could not be recorded is none.
func TestReadThatIsNotRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, d, disk := slowRackOn(t, time.Second)
		time.Sleep(5 * time.Second)
		disk.SetBroken(true)
		if r, err := l.Read(t.Context(), "n1"); protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Errorf("with a disk that fails: %+v, %v", r, err)
		}
		disk.SetBroken(false)
		disk.SetFull(true)
		d.is(protocol.PowerOn) // which changes the record
		if r, err := l.Read(t.Context(), "n1"); protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Errorf("with a full disk: %+v, %v", r, err)
		}
		disk.SetFull(false)
		if r, err := l.Read(t.Context(), "n1"); err != nil || r.Power != protocol.PowerOn {
			t.Errorf("with room again: %+v, %v", r, err)
		}
	})
}

// Many callers of one moment cost one read.
func TestCallersShareARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, d := slowRack(t, time.Second)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		before := d.reads.Load()
		var group errgroup.Group
		for range 20 {
			group.Go(func() error {
				_, err := l.Read(t.Context(), "n1")
				return err
			})
		}
		if err := group.Wait(); err != nil {
			t.Error(err)
		}
		if n := d.reads.Load() - before; n > 2 {
			t.Errorf("%d reads for 20 callers of one moment", n)
		}
	})
}

// Whoever stops waiting leaves nothing behind; a server that nobody knows is not waited for.
func TestReadThatIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := slowRack(t, 10*time.Second)
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if _, err := l.Read(ctx, "n1"); protocol.CodeOf(err) != protocol.CodeTimeout {
			t.Errorf("given up: %v", err)
		}
		s, _ := l.of("n1")
		if len(s.callers.waiting) != 0 {
			t.Errorf("%d callers are left", len(s.callers.waiting))
		}
		if _, err := l.Read(t.Context(), "n2"); protocol.CodeOf(err) != protocol.CodeNotFound {
			t.Errorf("of no server of this agent: %v", err)
		}
	})
}
