package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	agentdaemon "rackboot/agent/daemon"
	hubdaemon "rackboot/hub/daemon"
	"rackboot/protocol/resource"
)

// version is what both daemons say of themselves.
const version = "benchfence"

// daemon runs one of the two daemons as its program does.
type daemon struct {
	cancel context.CancelFunc
	done   chan error
}

func (d *daemon) begin(ctx context.Context, run func(ctx context.Context, ready func()) error) error {
	ctx, d.cancel = context.WithCancel(ctx)
	d.done = make(chan error, 1)
	ready := make(chan struct{})
	go func() { d.done <- run(ctx, sync.OnceFunc(func() { close(ready) })) }()
	select {
	case <-ready:
		return nil
	case err := <-d.done:
		d.done <- err
		return fmt.Errorf("it did not start: %w", err)
	}
}

func (d *daemon) do(o order) (any, error) {
	return nil, fmt.Errorf("%s is no order for a daemon", o.Do)
}

func (d *daemon) stop() error {
	if d.cancel == nil {
		return nil
	}
	d.cancel()
	if err := <-d.done; !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// hubPart is the hub.
type hubPart struct {
	daemon
	config hubdaemon.Config
}

func (h *hubPart) start(ctx context.Context, _ func(message)) (any, error) {
	return nil, h.begin(ctx, func(ctx context.Context, ready func()) error {
		return hubdaemon.Run(ctx, h.config, hubdaemon.Options{Version: version, Logger: slog.New(slog.DiscardHandler), Ready: ready})
	})
}

// agentPart is the agent.
type agentPart struct {
	daemon
	config agentdaemon.Config
}

func (a *agentPart) start(ctx context.Context, say func(message)) (any, error) {
	return nil, a.begin(ctx, func(ctx context.Context, ready func()) error {
		return agentdaemon.Run(ctx, a.config, agentdaemon.Options{Version: version, Logger: slog.New(&receipts{say: say}), Ready: ready})
	})
}

// receipts tells of each receipt from the line that the agent logs when it is on
// disk: the only moment that neither a report's pause nor the link is part of.
type receipts struct{ say func(message) }

func (r *receipts) Enabled(_ context.Context, l slog.Level) bool { return l == slog.LevelInfo }

func (r *receipts) Handle(_ context.Context, rec slog.Record) error {
	if rec.Message != "event" {
		return nil
	}
	code, detail := "", ""
	rec.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "code":
			code = a.Value.String()
		case "detail":
			detail = a.Value.String()
		}
		return true
	})
	if code != string(resource.EventFenced) {
		return nil
	}
	hold, _, _ := strings.Cut(strings.TrimPrefix(detail, "hold "), ":")
	r.say(message{Fenced: &fenced{Hold: hold, At: rec.Time.Round(time.Microsecond)}})
	return nil
}

func (r *receipts) WithAttrs([]slog.Attr) slog.Handler { return r }

func (r *receipts) WithGroup(string) slog.Handler { return r }
