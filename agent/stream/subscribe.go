package stream

import (
	"context"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
)

const (
	// A subscription is looked at this often, ± 20 %, and when the BMC was away.
	subscribedEvery = 5 * time.Minute
	// subscribeTimeout bounds making or checking one; unsubscribeTimeout what the
	// agent's end waits for.
	subscribeTimeout   = time.Minute
	unsubscribeTimeout = 3 * time.Second
)

// subscribe keeps a subscription at a BMC until ctx ends. With the end of run, which is
// the agent's, it is deleted; otherwise the next driver takes it over.
func (x *Room) subscribe(ctx, run context.Context, st *stream, sub bmc.Subscriber) {
	path, stop := x.hooks.open(st.address, func() { x.event(st) })
	defer stop()
	defer func() {
		x.subscribed(st, false)
		if run.Err() == nil {
			return
		}
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), unsubscribeTimeout)
		defer cancel()
		if err := sub.Unsubscribe(end); err != nil {
			x.log(st.owner).Info("the subscription to events stays at the BMC", "err", err)
		}
	}()
	wait, at := streamPauseMin, ""
	for {
		to, err := x.cfg.Destination.Destination(st.owner.Name(), st.address)
		to += path
		if err == nil {
			err = x.keep(ctx, sub, to, to != at)
		}
		pause := jitter(subscribedEvery)
		switch code := protocol.CodeOf(err); {
		case ctx.Err() != nil:
			return
		case err == nil:
			wait, at = streamPauseMin, to
		case code == protocol.CodeUnsupported, code == protocol.CodeDenied, code == protocol.CodeInvalid:
			x.log(st.owner).Info("the BMC sends no events", "err", err) // the next driver tries again
			return
		default:
			x.log(st.owner).Debug("no subscription to the BMC's events", "err", err)
			pause, at = jitter(wait), ""
			wait = min(2*wait, streamPauseMax)
		}
		x.subscribed(st, err == nil)
		select {
		case <-ctx.Done():
			return
		case <-st.back:
		case <-time.After(pause):
		}
	}
}

// keep makes a subscription if it is new or not there any more: iLO deletes and Dell
// disables one whose deliveries failed, and many forget it with a restart.
func (x *Room) keep(ctx context.Context, sub bmc.Subscriber, to string, fresh bool) error {
	ctx, cancel := context.WithTimeout(ctx, subscribeTimeout)
	defer cancel()
	if !fresh {
		if there, err := sub.Check(ctx); there || err != nil {
			return err
		}
	}
	return sub.Subscribe(ctx, to, "rackboot:"+x.cfg.Agent)
}

func (x *Room) subscribed(st *stream, is bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	st.subscribed = is
}

// Back has the subscription looked at: its BMC was away.
func (x *Room) Back(address string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if st := x.by[address]; st != nil {
		select {
		case st.back <- struct{}{}:
		default:
		}
	}
}
