package daemon

import (
	"context"
	"errors"

	"rackboot/hub/fence"
	"rackboot/hub/plan/hubs"
	"rackboot/hub/sharing"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/state/clock"
)

// shares reports whether other hubs may work on the same store: it and the broker are on servers that all of them reach.
// With a broker within the process a hub hears none of the others' agents.
func (c *Config) shares() bool { return c.Store.NATS != nil && c.Broker.URL != "" }

// sharedName is this hub's name among those that share the store; empty of one that is alone.
func (c *Config) sharedName() string {
	if !c.shares() {
		return ""
	}
	return c.Store.NATS.Name
}

// ownName is this hub's name where people see it: that among several, else the first under which it is reached.
func (c *Config) ownName() string {
	if c.Store.NATS != nil {
		return c.Store.NATS.Name
	}
	return c.Names[0]
}

// share has the hub work besides others on its store. One that is to be alone is, or does not start.
func (h *hub) share(ctx context.Context, c Config, api string) error {
	self := store.Hub{Name: c.ownName(), Run: h.start.Fence().Hub, API: api, Version: h.options.Version, Began: clock.Now().UTC()}
	if h.start.Lost() != nil || !c.shares() {
		alone := sharing.NewAlone(self, h.start, h.store.Objects)
		h.upkeep.hubs = alone
		if err := h.reg.Register(alone.Metrics()); err != nil || h.start.Lost() != nil {
			return err
		}
		return h.alone(ctx)
	}
	h.upkeep.others = sharing.New(sharing.Config{
		Store: h.store, Start: h.start, Clock: clock.Now, Logger: h.log, Self: self,
		Took: func(unit string) { h.control.Took(unit) }, Left: func(unit string) { h.control.Left(unit) },
		Hears: func() bool { return h.link.Connected() },
		Lacks: func() uint64 { return h.control.Link.Lacks() }, Whole: func() { h.control.Whole() },
	})
	h.upkeep.hubs = h.upkeep.others
	h.upkeep.ending.others.Store(h.upkeep.others)
	h.start.Share(h.upkeep.others)
	return h.reg.Register(h.upkeep.others.Metrics())
}

// alone removes what hubs have left that shared the store and do not run. It waits to see whether one does, where there
// are any.
func (h *hub) alone(ctx context.Context) error {
	silent, err := silence(ctx, h.store.Hubs.List(), h.store.Hubs.Newest, 2*hubs.BeatEvery+hubs.BeatEvery/2)
	if busy, is := errors.AsType[*beatsError](err); is {
		return protocol.Errorf(protocol.CodeConflict, "use the hub's store", "%w", busy).
			WithHint("set broker.url, so that this hub hears the agents too and shares the store; or stop the other one")
	}
	if err != nil {
		return err
	}
	for _, u := range silent {
		if err := h.store.Hubs.Remove(ctx, u); err != nil {
			return err
		}
	}
	return nil
}

// worksSite reports whether this hub does what is done once for all racks.
func (h *hub) worksSite() bool { return h.start.Works(fence.Site) }

// underSite has what is written with a context expect that this hub still does so.
func (h *hub) underSite(ctx context.Context) context.Context { return h.start.Under(ctx, fence.Site) }
