package rollouts

import (
	"maps"
	"slices"
	"time"

	"rackboot/hub/plan"
	"rackboot/hub/plan/rollout"
	"rackboot/hub/reports"
	"rackboot/hub/revisions"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// power is what a report says of a server's power.
type powerSeen string

const (
	powerOn  powerSeen = "on"
	powerOff powerSeen = "off"
)

// downRule says why a server does not serve; empty if it does. The first row that fits
// decides.
//
//	maintenance | held | frozen | heard | under way | failed | power | down
//	yes         | *    | *      | *     | *         | *      | *     | maintenance
//	no          | yes  | *      | *     | *         | *      | *     | held
//	no          | no   | yes    | *     | *         | *      | *     | frozen
//	no          | no   | no     | no    | *         | *      | *     | dark
//	no          | no   | no     | yes   | yes       | *      | *     | attempt
//	no          | no   | no     | yes   | no        | yes    | *     | failed
//	no          | no   | no     | yes   | no        | no     | on    | up
//	no          | no   | no     | yes   | no        | no     | off   | off
//
// heard is that its agent speaks, and its BMC answers. under way is a boot from the network,
// and from the record of an order to the boot that it has led to, or the end of its attempts.
// failed is that no boot was proved since one was given up.
func downRule(maintenance, held, frozen, heard, underWay, failed bool, power powerSeen) rollout.DownReason {
	switch {
	case maintenance:
		return rollout.DownMaintenance
	case held:
		return rollout.DownHeld
	case frozen:
		return rollout.DownFrozen
	case !heard:
		return rollout.DownDark
	case underWay:
		return rollout.DownAttempt
	case failed:
		return rollout.DownFailed
	case power == powerOff:
		return rollout.DownOff
	}
	return ""
}

// rolloutServers are a group's servers for a step to a revision.
func (c *Room) rolloutServers(p *revisions.Pass, g *resource.ServerGroup, r *resource.GroupRevision, seats map[string]*seat) (out []rollout.Server) {
	for _, name := range slices.Sorted(maps.Keys(seats)) {
		s := seats[name]
		one := rollout.Server{
			Name: name, Rack: p.Fleet.RackOf(name), Labels: s.server.Metadata.Labels, Claimed: true,
			Network: s.claim.Spec.BootPolicy.Boot == resource.BootNetwork, Target: s.target(r), Boots: s.seen.Booted.Value(),
		}
		if b := s.seen.Booted; b != nil {
			one.BootedAt = b.At
		}
		if b := s.seen.Failed; b != nil && b.Value() == one.Target {
			one.Failed, one.FailedAt = b.Reason, b.At
		}
		if o := s.seen.Order; o != nil {
			one.Ordered = o.At
		}
		if s.cfg != nil && !s.ready() {
			one.Waits = s.waits().words(s)
		}
		heard, until := c.hearsOf(p, s)
		if !g.Status.Rollout.Phase.Over() {
			p.At(until)
		}
		one.Down = downRule(p.Fleet.MaintenanceOf(name) != nil, len(p.Fleet.HoldsOn(name)) > 0, plan.Frozen(p.Fleet.Made.Freezes, s.server, one.Rack, p.Now) != nil, heard, heard && c.underWay(p, g, s), s.gaveUp(), s.power())
		one.Up = one.Down == ""
		out = append(out, one)
	}
	return out
}

// target is what a server boots of a revision; empty where it has no image for it.
func (s *seat) target(r *resource.GroupRevision) string {
	img, err := r.ImageFor(s.server.Architecture())
	if err != nil {
		return ""
	}
	return resource.BootValue(img.Digest, s.dataOf(r.Spec.Stub))
}

// hearsOf says whether a server's agent and BMC speak, and when they would have been silent
// for too long.
func (c *Room) hearsOf(p *revisions.Pass, s *seat) (bool, time.Time) {
	until := s.heard.Add(reports.DarkAfter + time.Nanosecond)
	if s.report == nil || s.heard.IsZero() || !p.Now.Before(until) || !p.Fleet.HasAgent(s.server.Metadata.Name) {
		return false, time.Time{}
	}
	power := s.report.Observation.Power
	return power != protocol.PowerUnreachable && power != protocol.PowerUnknown, until
}

func (s *seat) power() powerSeen {
	if s.report == nil {
		return powerOff
	}
	power := s.report.Power
	if power == "" {
		power = s.report.Observation.Power
	}
	if power == protocol.PowerOn || s.cfg != nil && s.restarts() {
		return powerOn
	}
	return powerOff
}

// gaveUp says whether nothing was proved to boot since a boot was given up.
func (s *seat) gaveUp() bool {
	f, b := s.seen.Failed, s.seen.Booted
	return f != nil && (b == nil || f.At.After(b.At))
}

// underWay says whether a boot is under way, or an order that has not led to one.
func (c *Room) underWay(p *revisions.Pass, g *resource.ServerGroup, s *seat) bool {
	if s.cfg == nil {
		return false
	}
	if s.open() {
		return true
	}
	o := s.seen.Order
	if o == nil || s.seen.Booted != nil && s.seen.Booted.At.After(o.At) || s.seen.Failed != nil && s.seen.Failed.At.After(o.At) {
		return false
	}
	asked := c.askedOf(o)
	late := !p.Now.Before(o.At.Add(g.Spec.Rollout.Deadline.D()))
	if !late && s.power() == powerOff {
		p.At(o.At.Add(g.Spec.Rollout.Deadline.D()))
	}
	return orderRule(o.Installs && o.Request == "", asked, s.power(), late)
}

// asked is how far the reboot of an order is.
type askedFor string

const (
	askedPending askedFor = "pending"
	askedEnded   askedFor = "ended"
	askedGone    askedFor = "gone" // it is not known any more
)

func (c *Room) askedOf(o *resource.RolloutTask) askedFor {
	switch q, err := c.cfg.Requests.Get(o.Request); {
	case err != nil:
		return askedGone
	case q.Report.Outcome.Ended():
		return askedEnded
	}
	return askedPending
}

// orderRule says whether an order that has led to no boot yet is under way. The first row
// that fits decides.
//
//	to be asked | reboot  | power | late | under way
//	yes         | *       | *     | *    | yes
//	no          | pending | *     | *    | yes
//	no          | *       | on    | *    | no
//	no          | *       | off   | yes  | no
//	no          | *       | off   | no   | yes
//
// to be asked is that the configuration was replaced for it, and the reboot is not asked
// for yet. late is that the deadline has passed: whatever keeps it off, it is no boot.
func orderRule(toAsk bool, asked askedFor, power powerSeen, late bool) bool {
	return toAsk || asked == askedPending || power == powerOff && !late
}
