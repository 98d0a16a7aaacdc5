package control

import (
	"context"
	"errors"

	"rackboot/hub/exporter"
	"rackboot/hub/filing"
	"rackboot/hub/holds"
	"rackboot/hub/inventory"
	"rackboot/hub/requests"
	"rackboot/hub/store"
	"rackboot/hub/watch"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// heard hands what agents say to the rooms that it is for; it is a [rackboot/hub/link.Heard].
type heard struct {
	inventory *inventory.Room
	requests  *requests.Room
	filing    *filing.Room
	holds     *holds.Room
	exporter  *exporter.Room
	watches   *watch.Room
}

// Met implements link.Heard.
func (h *heard) Met(ctx context.Context, rack string, peer store.Peer) error {
	return h.requests.Met(ctx, rack, peer)
}

// SealKey implements link.Heard.
func (h *heard) SealKey(ctx context.Context, agent string, key []byte) error {
	return h.inventory.SealKey(ctx, agent, key)
}

// Found implements link.Heard.
func (h *heard) Found(m message.Report) bool { return h.inventory.Found(m) }

// Told implements link.Heard.
func (h *heard) Told(ctx context.Context, a *resource.Agent, s resource.ServerReport, news bool) error {
	h.Shown(a, s, news)
	errs := []error{h.filing.File(ctx, a, s)}
	for _, q := range s.Requests {
		errs = append(errs, h.requests.Ended(ctx, s.Server, q))
	}
	return errors.Join(append(errs, h.holds.Adopt(ctx, a, s))...)
}

// Shown implements link.Heard.
func (h *heard) Shown(a *resource.Agent, s resource.ServerReport, news bool) {
	h.exporter.Told(a.Spec.RackRef.Name, s, news)
	if news {
		h.watches.Told(a.Spec.RackRef.Name, s.Server)
	}
}

// Laid implements link.Heard.
func (h *heard) Laid(agent string, d message.HoldDoc) { h.holds.Laid(agent, d) }

// Released implements link.Heard.
func (h *heard) Released(a *resource.Agent, hold string) { h.holds.Released(a, hold) }
