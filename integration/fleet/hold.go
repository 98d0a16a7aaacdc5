package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

const (
	// holdsAtOnce bounds the holds under way.
	holdsAtOnce = 32
	// holdWithin bounds one until it is Fenced, and again until it is gone.
	holdWithin = time.Minute
	// lookPause is between two questions what a hold has come to, and doubles: up to soonPauseMax
	// until it is Enforced, and to lookPauseMax until it is gone. Until it is Fenced, seconds later, it
	// is lookPauseMax, so that the questions are no load of their own.
	lookPause    = 2 * time.Millisecond
	soonPauseMax = 8 * time.Millisecond
	lookPauseMax = 100 * time.Millisecond
)

// held is how long after it was asked for a hold came to something.
type held struct {
	accepted time.Duration // the hub has answered
	laid     time.Duration // its agent has it
	enforced time.Duration // the hub says Enforced, or more
	fenced   time.Duration // the hub says Fenced
	released time.Duration // after the release was asked for, the hub has forgotten it
}

// holds holds and releases servers, one after the other over the time; each of another rack than the one before.
func (f *Fleet) holds(ctx context.Context, n int, over time.Duration) (good []held, failed []error) {
	racks := f.powered()
	if len(racks) == 0 {
		return nil, []error{errDark}
	}
	f.shared.laid.watch()
	run := random() // a key of an earlier run means another hold
	busy := make(chan struct{}, holdsAtOnce)
	var mu sync.Mutex
	var all sync.WaitGroup
	ticks := time.NewTicker(max(over/time.Duration(n), time.Millisecond))
	defer ticks.Stop()
	for i := range n {
		select {
		case <-ctx.Done():
		case busy <- struct{}{}:
		}
		if ctx.Err() != nil {
			break
		}
		all.Go(func() {
			defer func() { <-busy }()
			server := serverName(racks[i%len(racks)], i/len(racks)%f.cfg.Servers)
			got, err := f.hold(ctx, server, fmt.Sprintf("rackboot-sim-%s-%d", run, i))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				good = append(good, got)
			} else if ctx.Err() == nil {
				failed = append(failed, fmt.Errorf("hold of %s: %w", server, err))
			}
		})
		select {
		case <-ctx.Done():
		case <-ticks.C:
		}
	}
	all.Wait()
	return good, failed
}

// hold holds one server until it is Fenced, and releases it. What was placed is released
// also where ctx ends.
func (f *Fleet) hold(ctx context.Context, server, key string) (got held, err error) {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, holdWithin)
	defer cancel()
	h, err := f.cfg.Hub.Client.Holds.Create(ctx, server, api.HoldRequest{HoldTerms: resource.HoldTerms{
		Key: key, Mode: resource.StopHard, Reason: "measured",
	}})
	if err != nil {
		return got, err
	}
	got.accepted = time.Since(begun)
	id := h.Metadata.Name
	defer func() {
		released := time.Now()
		err = errors.Join(err, f.release(context.WithoutCancel(ctx), id))
		got.released = time.Since(released)
	}()
	if err := f.await(ctx, id, lookPause, soonPauseMax, enforced); err != nil {
		return got, err
	}
	got.enforced = time.Since(begun)
	fenced := func(h *resource.Hold) bool { return h.Status.Word == resource.HoldFenced }
	if err := f.await(ctx, id, lookPauseMax, lookPauseMax, fenced); err != nil {
		return got, err
	}
	got.fenced = time.Since(begun)
	at, came := f.shared.laid.take(id)
	if !came {
		return got, errors.New("no agent has it")
	}
	got.laid = at.Sub(begun)
	return got, nil
}

func enforced(h *resource.Hold) bool {
	return h.Status.Word != resource.HoldAccepted && h.Status.Word != ""
}

// await asks for a hold until it is as wanted, with pauses that double up to the longest.
func (f *Fleet) await(ctx context.Context, id string, pause, longest time.Duration, ok func(*resource.Hold) bool) error {
	for ; ; pause = min(2*pause, longest) {
		o, err := f.cfg.Hub.Client.Objects.Get(ctx, resource.KindHold, id)
		if err != nil {
			return err
		}
		if h, is := o.(*resource.Hold); is && ok(h) {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// release releases a hold, and waits until it is gone.
func (f *Fleet) release(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, holdWithin)
	defer cancel()
	if _, err := f.cfg.Hub.Client.Holds.Release(ctx, id, api.ReleaseRequest{}); err != nil {
		return err
	}
	err := f.await(ctx, id, lookPause, lookPauseMax, func(*resource.Hold) bool { return false })
	if protocol.CodeOf(err) == protocol.CodeNotFound {
		return nil
	}
	return err
}
