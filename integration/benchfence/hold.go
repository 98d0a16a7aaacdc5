package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// holdWithin bounds one hold until it is seen Fenced, and again until it is gone.
const holdWithin = 30 * time.Second

func (w *waiting) fenced(f fenced) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c, ok := w.who[f.Hold]; ok {
		delete(w.who, f.Hold)
		c <- f.At
		return
	}
	w.early[f.Hold] = f.At // its owner has not got the answer yet
}

func (w *waiting) of(hold string) <-chan time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := make(chan time.Time, 1)
	if at, ok := w.early[hold]; ok {
		delete(w.early, hold)
		c <- at
		return c
	}
	w.who[hold] = c
	return c
}

// hold holds a server that runs, and leaves it running.
func (s *site) hold(ctx context.Context, i int) (got sample, err error) {
	ctx, cancel := context.WithTimeout(ctx, holdWithin)
	defer cancel()
	name := s.servers[i].Name
	begun := time.Now()
	h, err := s.client.Holds.Create(ctx, name, api.HoldRequest{HoldTerms: resource.HoldTerms{Key: "benchfence", Mode: resource.StopHard, Reason: "measured"}})
	if err != nil {
		return got, err
	}
	got.asked, got.settle = time.Now(), s.plan.Settle
	got.accept = got.asked.Sub(begun)
	id := h.Metadata.Name
	defer func() { err = errors.Join(err, s.free(context.WithoutCancel(ctx), id, i)) }()
	select {
	case got.fenced = <-s.waiting.of(id):
	case <-ctx.Done():
		return got, fmt.Errorf("hold %s on %s: no receipt within %s", id, name, holdWithin)
	}
	for h.Status.Word != resource.HoldFenced || h.Status.Receipt == nil {
		sleep(ctx, 5*time.Millisecond)
		if h, err = s.getHold(ctx, id); err != nil {
			return got, err
		}
	}
	got.visible, got.enforced = time.Now(), h.Status.Receipt.EnforcedAt
	if got.enforced.Before(got.asked) {
		got.asked = got.enforced // its owner may be late to hear
	}
	return got, s.fleet.tell(order{Do: "cut", Server: i}, &got.cut)
}

func (s *site) getHold(ctx context.Context, id string) (*resource.Hold, error) {
	o, err := s.client.Objects.Get(ctx, resource.KindHold, id)
	if err != nil {
		return nil, err
	}
	h, ok := o.(*resource.Hold)
	if !ok {
		return nil, fmt.Errorf("hold %s is a %s", id, o.Head().Kind)
	}
	return h, nil
}

// free releases a hold, waits until the agent let go, and powers the server on as
// somebody else would, so that no boot of ours is part of the measurement.
func (s *site) free(ctx context.Context, id string, i int) error {
	ctx, cancel := context.WithTimeout(ctx, holdWithin)
	defer cancel()
	if _, err := s.client.Holds.Release(ctx, id, api.ReleaseRequest{}); err != nil {
		return err
	}
	for {
		_, err := s.getHold(ctx, id)
		if protocol.CodeOf(err) == protocol.CodeNotFound {
			break
		}
		if ctx.Err() != nil {
			return fmt.Errorf("hold %s is not gone within %s", id, holdWithin)
		}
		sleep(ctx, 50*time.Millisecond)
	}
	return s.fleet.tell(order{Do: "on", Server: i}, nil)
}

// holds places a number of holds at random moments, at a mean rate, each on a server
// that is free.
func (s *site) holds(ctx context.Context) (good []sample, failed []error) {
	free := make(chan int, s.plan.Servers)
	for i := range s.plan.Servers {
		free <- i
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	for range s.plan.Holds {
		sleep(ctx, time.Duration(rand.ExpFloat64()*float64(time.Second)/s.plan.Rate))
		i := 0
		select {
		case i = <-free:
		case <-ctx.Done():
			failed = append(failed, ctx.Err())
		}
		if ctx.Err() != nil {
			break
		}
		all.Go(func() {
			got, err := s.hold(ctx, i)
			mu.Lock()
			if err == nil {
				good = append(good, got)
			} else {
				failed = append(failed, err)
			}
			mu.Unlock()
			sleep(ctx, settled) // it runs again before it is held again
			free <- i
		})
	}
	all.Wait()
	return good, failed
}

// settled is for the machine to run again.
const settled = 200 * time.Millisecond
