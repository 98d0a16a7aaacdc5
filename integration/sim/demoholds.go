package sim

import (
	"context"
	"fmt"
	"time"

	"rackboot/protocol"
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
	steps := append(d.begin(), d.installed()...)
	return append(steps, []demoStep{
		{rebootNow + ": rebooted once", d.onClaimed("reboot", "--from-annotation", rebootNow, "--wait")},
		{"boots from its disk again", d.event(resource.EventDiskBoot)},
		{"…/fencing, hard: forced off and proved", d.onClaimed("hold", "--from-annotation", fencingHolds, "--wait", "fenced")},
		{"receipt: the node can be deleted", d.receiptOf(fencing)},
		{"…/upgrade: a second client holds it too", d.onClaimed("hold", "--from-annotation", upgradeHolds, "--wait", "fenced")},
		{"fencing lets go", d.letGo(fencing)},
		{"still off, for the other one", d.staysOff},
		{"upgrade lets go", d.letGo(upgrade)},
		{"boots from its disk again", d.event(resource.EventDiskBoot)},
		{"one network boot, three disk boots", d.count(1, 3)},
		{"nothing warns", d.quiet},
	}...)
}

// onClaimed runs rackctl on the server that the claim got.
func (d *Demo) onClaimed(verb string, args ...string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		name, err := d.claimed(ctx)
		if err != nil {
			return "", err
		}
		_, err = d.rackctl(ctx, append([]string{verb, name}, args...)...)
		return name, err
	}
}

// holdOf is the hold with a key.
func (d *Demo) holdOf(ctx context.Context, key string) (*resource.Hold, error) {
	list, err := api.GetAll[*resource.Hold](ctx, d.client)
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

func (d *Demo) receiptOf(key string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		h, err := d.holdOf(ctx, key)
		if err != nil {
			return "", err
		}
		return d.shown(ctx, "proved by reads of the BMC", "receipt", h.Metadata.Name)
	}
}

// shown prints what rackctl says.
func (d *Demo) shown(ctx context.Context, detail string, args ...string) (string, error) {
	out, err := d.rackctl(ctx, args...)
	if err == nil {
		d.printf("%s\n", indent(out))
	}
	return detail, err
}

func (d *Demo) letGo(key string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		h, err := d.holdOf(ctx, key)
		if err != nil {
			return "", err
		}
		_, err = d.rackctl(ctx, "release", h.Metadata.Name)
		return h.Spec.Server + ", hold " + h.Metadata.Name, err
	}
}

// staysOff watches the claimed server, which somebody holds.
func (d *Demo) staysOff(ctx context.Context) (string, error) {
	held := d.withSystem()
	watch := time.Now().Add(watchReleased)
	err := until(ctx, func() (bool, error) {
		if p := held.BMC.PowerState(); p != protocol.PowerOff {
			return false, fmt.Errorf("%s is %s under its hold", held.Name, p)
		}
		return time.Now().After(watch), nil
	})
	return fmt.Sprintf("watched for %s", watchReleased), err
}

// withSystem is the server that was installed.
func (d *Demo) withSystem() *Server {
	for _, s := range d.servers {
		if s.Disk.Digest() != "" {
			return s
		}
	}
	return d.servers[0]
}
