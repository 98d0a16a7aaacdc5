package sim

import (
	"context"
	"fmt"
	"time"

	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// Annotations of metal3's reboot interface, which rackctl reads.
const (
	rebootNow     = "reboot.metal3.io"
	fencingHolds  = `reboot.metal3.io/fencing={"mode":"hard"}`
	upgradeHolds  = "reboot.metal3.io/upgrade"
	fencing       = "fencing"
	upgrade       = "upgrade"
	watchReleased = 2 * time.Second
)

// holds is what metal3 calls reboots and reboot holds: by whom, one after the other or
// together, and that a server is off until the last has let go.
func holds(d *Demo) []demoStep {
	by := demoHolds{d}
	steps := append(d.begin(), d.installed()...)
	return append(steps, []demoStep{
		{rebootNow + ": rebooted once", d.site.onClaimed("reboot", "--from-annotation", rebootNow, "--wait")},
		{"boots from its disk again", d.site.event(resource.EventDiskBoot)},
		{"…/fencing, hard: forced off and proved", d.site.onClaimed("hold", "--from-annotation", fencingHolds, "--wait", "fenced")},
		{"receipt: the node can be deleted", by.receiptOf(fencing)},
		{"…/upgrade: a second client holds it too", d.site.onClaimed("hold", "--from-annotation", upgradeHolds, "--wait", "fenced")},
		{"fencing lets go", by.letGo(fencing)},
		{"still off, for the other one", d.rack.staysOff},
		{"upgrade lets go", by.letGo(upgrade)},
		{"boots from its disk again", d.site.event(resource.EventDiskBoot)},
		{"one network boot, three disk boots", d.rack.count(1, 3)},
		{"nothing warns", d.site.quiet},
	}...)
}

// demoHolds are steps about holds.
type demoHolds struct{ demo *Demo }

// holdOf is the hold with a key.
func (b demoHolds) holdOf(ctx context.Context, key string) (*resource.Hold, error) {
	list, err := api.GetAll[*resource.Hold](ctx, b.demo.site.client)
	if err != nil {
		return nil, err
	}
	for _, h := range list {
		if h.Spec.Key == key {
			return h, nil
		}
	}
	return nil, fmt.Errorf("there is no hold with the key %s", key)
}

func (b demoHolds) receiptOf(key string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		h, err := b.holdOf(ctx, key)
		if err != nil {
			return "", err
		}
		return b.demo.shown(ctx, "proved by reads of the BMC", "receipt", h.Metadata.Name)
	}
}

// shown prints what rackctl says.
func (d *Demo) shown(ctx context.Context, detail string, args ...string) (string, error) {
	out, err := d.site.rackctl(ctx, args...)
	if err == nil {
		d.report.printf("%s\n", indent(out))
	}
	return detail, err
}

func (b demoHolds) letGo(key string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		h, err := b.holdOf(ctx, key)
		if err != nil {
			return "", err
		}
		_, err = b.demo.site.rackctl(ctx, "release", h.Metadata.Name)
		return h.Spec.Server + ", hold " + h.Metadata.Name, err
	}
}

func (b demoHolds) hold(ctx context.Context) (string, error) {
	name, err := b.demo.site.claimed(ctx)
	if err != nil {
		return "", err
	}
	_, err = b.demo.site.rackctl(ctx, "hold", name, "--key", "demo", "--mode", "hard", "--reason", "demo", "--wait", "fenced")
	return name, err
}

func (b demoHolds) theHold(ctx context.Context) (*resource.Hold, error) {
	list, err := api.GetAll[*resource.Hold](ctx, b.demo.site.client)
	if err == nil && len(list) != 1 {
		err = fmt.Errorf("%d holds, want 1", len(list))
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

func (b demoHolds) receipt(ctx context.Context) (string, error) {
	h, err := b.theHold(ctx)
	if err != nil {
		return "", err
	}
	out, err := b.demo.site.rackctl(ctx, "receipt", h.Metadata.Name)
	if err == nil {
		b.demo.report.printf("%s\n", indent(out))
	}
	return "proved by reads of the BMC", err
}

func (b demoHolds) release(ctx context.Context) (string, error) {
	h, err := b.theHold(ctx)
	if err != nil {
		return "", err
	}
	_, err = b.demo.site.rackctl(ctx, "release", h.Metadata.Name)
	return h.Spec.Server, err
}
