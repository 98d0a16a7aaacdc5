package server

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/agent/store"
	"rackboot/bmc"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

// counted is a BMC that shows On, and counts how often it is read.
type counted struct {
	bmc.Driver

	reads *atomic.Int64
}

// Observe implements bmc.Driver.
func (c counted) Observe(context.Context) (protocol.Observation, error) {
	c.reads.Add(1)
	time.Sleep(50 * time.Millisecond) // what a quick BMC takes
	return protocol.Observation{Power: protocol.PowerOn}, nil
}

// Close implements bmc.Driver.
func (counted) Close() error { return nil }

// installing is the loop of a server whose installer runs, and how often its BMC was read.
func installing(t *testing.T) (l *loop, reads *atomic.Int64) {
	t.Helper()
	reads = new(atomic.Int64)
	cfg := config(t)
	cfg.OpenBMC = func(bmc.Target) (bmc.Driver, error) { return counted{errDriver{}, reads}, nil }
	in := document(t, cfg.Store)
	if _, _, err := cfg.Store.Servers.Step(in.Server, func(v store.View) decide.Plan {
		v.Record.Shown.Power, v.Record.Shown.Epoch = protocol.PowerOn, 1
		v.Record.Attempt = &decide.Attempt{
			ID: "a", Token: "token", At: time.Now(), Marks: decide.Marks{Served: true},
			Order: decide.Order{
				Target: protocol.TargetUefiHTTP, OwnerUID: in.Owner.UID, Generation: in.Boot.Generation, Digest: in.Boot.Image.Digest,
				Chain: &protocol.BootChain{First: "uki", Last: "uki", Files: []protocol.ChainFile{{Name: "uki", Digest: in.Boot.Image.Digest}}},
			},
			Stage: decide.Stage{State: resource.AttemptFetched, Since: time.Now(), Observed: protocol.TargetUefiHTTP, Evidence: protocol.EvidenceFetched, PowerOn: decide.PowerOn{Sent: time.Now()}},
		}
		return decide.Plan{Record: v.Record, Persist: true}
	}); err != nil {
		t.Fatal(err)
	}
	return New(cfg).loop(in.Server), reads
}

// errDriver is a driver of which nothing else is asked.
type errDriver struct{ bmc.Driver }

// Reset implements bmc.Driver.
func (errDriver) Reset(context.Context, bmc.ResetType) error { return errors.New("nothing is ordered") }

// TestInstallerWakesNoReads: 12,800 files of an installer ask for no read of its BMC, and what
// moves the attempt for a few.
func TestInstallerWakesNoReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, reads := installing(t)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { s.run(ctx); close(done) }()
		quiet := func() int64 {
			before := reads.Load()
			time.Sleep(10 * time.Minute)
			return reads.Load() - before
		}
		synctest.Wait()
		idle := quiet()
		before := reads.Load()
		const files = 12_800
		for i := range files {
			s.saw(decide.Event{Kind: protocol.EvidenceFetched, Token: "token", File: "package-" + strconv.Itoa(i), At: time.Now()})
			time.Sleep(10 * time.Minute / files)
		}
		busy := reads.Load() - before
		t.Logf("%d reads in ten minutes, %d with %d files", idle, busy, files)
		if busy > idle+10 {
			t.Errorf("%d reads in ten minutes with %d files, %d without", busy, files, idle)
		}
		before = reads.Load()
		s.saw(decide.Event{Kind: protocol.EvidenceFailed, Token: "token", At: time.Now(), Message: "no disk"})
		time.Sleep(100 * time.Millisecond)
		if reads.Load() == before {
			t.Error("what ends the attempt asks for no read")
		}
		cancel()
		<-done
	})
}

// TestEvidenceBudget: a client that moves the record with each packet has a BMC read four
// times at once, and then every five seconds, and each BMC has a budget of its own.
func TestEvidenceBudget(t *testing.T) {
	var b budget
	now := time.Now()
	taken := 0
	for range 12_800 {
		if b.take("a", now) == 0 {
			taken++
		}
		now = now.Add(10 * time.Minute / 12_800)
	}
	if most := evidenceBurst + int(10*time.Minute/evidenceEvery) + 1; taken > most || taken < most-3 {
		t.Errorf("%d reads, want %d", taken, most)
	}
	for range evidenceBurst {
		b.take("a", now)
	}
	if wait := b.take("a", now); wait <= 0 || wait > evidenceEvery {
		t.Errorf("the next is in %v", wait)
	}
	if b.take("b", now) != 0 {
		t.Error("another BMC waits too")
	}
	for i := range 3 * maxBudgets {
		b.take(strconv.Itoa(i), now)
	}
	if len(b.by) > maxBudgets {
		t.Errorf("%d budgets", len(b.by))
	}
}
