package daemon

import (
	"rackboot/hub/webhooks"
	"rackboot/state/clock"
)

// openWebhooks makes what sends events.
func (h *hub) openWebhooks(all Webhooks) (*webhooks.Room, error) {
	hooks, err := all.hooks()
	if err != nil {
		return nil, err
	}
	return webhooks.New(webhooks.Config{
		Hooks: hooks, Events: h.control.Events, Meta: h.store.Meta, Objects: h.store.Objects, Source: "urn:rackboot:hub:" + h.upkeep.id, Stopped: func() bool { return !h.worksSite() },
		Clock: clock.Now, NewID: newID, Version: h.options.Version, Logger: h.log, Registerer: h.reg,
	})
}
