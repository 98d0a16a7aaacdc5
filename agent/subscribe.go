package agent

import (
	"context"
	"slices"
	"time"

	"rackboot/agent/boot"
	"rackboot/agent/store"
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
func (x *streams) subscribe(ctx, run context.Context, st *stream, sub bmc.Subscriber) {
	path, stop := x.hooks.open(st.address, st.event)
	defer stop()
	defer func() {
		x.subscribed(st, false)
		if run.Err() == nil {
			return
		}
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), unsubscribeTimeout)
		defer cancel()
		if err := sub.Unsubscribe(end); err != nil {
			st.owner.log.Info("the subscription to events stays at the BMC", "err", err)
		}
	}()
	wait, at := streamPauseMin, ""
	for {
		to, err := x.destination(st.owner.name, st.address, path)
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
			st.owner.log.Info("the BMC sends no events", "err", err) // the next driver tries again
			return
		default:
			st.owner.log.Debug("no subscription to the BMC's events", "err", err)
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
func (x *streams) keep(ctx context.Context, sub bmc.Subscriber, to string, fresh bool) error {
	ctx, cancel := context.WithTimeout(ctx, subscribeTimeout)
	defer cancel()
	if !fresh {
		if there, err := sub.Check(ctx); there || err != nil {
			return err
		}
	}
	return sub.Subscribe(ctx, to, "rackboot:"+x.agent.cfg.Agent)
}

func (x *streams) subscribed(st *stream, is bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	st.subscribed = is
}

// back has the subscription looked at: its BMC was away.
func (x *streams) back(address string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if st := x.by[address]; st != nil {
		select {
		case st.back <- struct{}{}:
		default:
		}
	}
}

// destination implements the field of streams.
func (a *Agent) destination(server, address, path string) (string, error) {
	o, err := a.store.Overview()
	if err != nil {
		return "", err
	}
	boots := ""
	if i := slices.IndexFunc(o.Intents, func(in store.Intent) bool { return in.Server == server }); i >= 0 {
		boots = o.Intents[i].Segment
	}
	_, base := boot.BaseFor(address, boots, a.boot.Served(o))
	if base == "" {
		return "", protocol.Errorf(protocol.CodeUnavailable, "webhook", "no segment of BMC %s has an HTTP server of this agent", address).
			WithHint("power transitions are found by polling; nothing has to be done")
	}
	return base + path, nil
}
