package rollouts

import (
	"context"
	"maps"
	"slices"

	"rackboot/hub/plan/rollout"
	"rackboot/hub/revisions"
	"rackboot/protocol/resource"
)

// maxRebootTries bounds how often the reboot into an installation is asked for again that
// was refused, or that nobody has begun.
const maxRebootTries = 5

// orderInstall gives a server a configuration of another revision, with a grant to install
// over what it has: what was installed of it is lost with the next boot. The order is
// recorded in the same write. The reboot is asked for when its agent has the files.
func (c *Room) orderInstall(ctx context.Context, g *resource.ServerGroup, o rollout.Order, s *seat, r *resource.GroupRevision) (bool, error) {
	if s.cfg == nil || r == nil {
		return false, nil
	}
	if cond := c.cfg.Inventory.Carried(s.server, s.claim.Spec.BootPolicy); cond != nil {
		return false, nil // which the claim's own conditions say
	}
	t := revisions.Taken{Revision: r}
	img, cond := c.cfg.Revisions.TakenImage(t, s.server, s.claim.Spec.BootPolicy, s.claim.Spec.KernelArgs)
	if cond != nil {
		return false, nil
	}
	data, cond := c.cfg.Revisions.ClaimData(s.claim, t)
	if cond != nil {
		return false, nil
	}
	own := c.cfg.Grants.ForClaim(s.claim, s.server, data, t.Group(), t.Number(), s.cfg)
	own.Task = &resource.RolloutTask{Kind: string(o.Kind), At: o.At, Installs: true}
	if err := c.cfg.Grants.Make(ctx, own, s.server, *img); err != nil {
		return false, err
	}
	c.cfg.Crash.At("hub.rollout.granted")
	return true, nil
}

// installReboots asks for the reboots of the servers whose configuration was replaced for an
// order: what was begun goes on, whatever becomes of the roll-out. A reboot that was not
// begun in time is asked for again only while servers may be begun.
func (c *Room) installReboots(ctx context.Context, p *revisions.Pass, g *resource.ServerGroup, seats map[string]*seat, open bool) error {
	for _, name := range slices.Sorted(maps.Keys(seats)) {
		s := seats[name]
		o := s.seen.Order
		if s.cfg == nil || o == nil || !o.Installs || o.Request != "" || o.Tries >= maxRebootTries || o.Tries > 0 && !open {
			continue
		}
		settled := s.seen.Booted != nil && s.seen.Booted.At.After(o.At) || s.seen.Failed != nil && s.seen.Failed.At.After(o.At)
		if settled || !s.ready() || s.power() != powerOn || s.open() {
			continue // it begins by itself from Off
		}
		id := rebootID(name, o.Kind, o.At, o.Tries)
		if err := c.askReboot(ctx, p, g, s, id); err != nil {
			return err
		}
		next, task := s.seen, *o
		task.Request = id
		next.Order = &task
		if err := c.note(ctx, s, next); err != nil {
			return err
		}
		c.cfg.Crash.At("hub.rollout.ordered")
	}
	return nil
}
