package rollouts

import (
	"context"
	"errors"
	"reflect"
	"time"

	"rackboot/hub/plan"
	"rackboot/hub/revisions"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// seat is a claimed server of a group with what is known of it.
type seat struct {
	claim  *resource.Claim
	server *resource.Server
	cfg    *resource.BootConfiguration // nil without
	report *resource.ServerReport      // nil before the first in this run
	heard  time.Time
	seen   resource.BootSeen
	member resource.RolloutMember // of the group's roll-out; zero if it is none
}

// seats are the servers of a group's claims, by name, with what was seen of them stored.
func (c *Room) seats(ctx context.Context, p *revisions.Pass, g *resource.ServerGroup) (map[string]*seat, error) {
	out := map[string]*seat{}
	var errs []error
	for _, cl := range p.Fleet.ClaimsTaking(g.Metadata.Name) {
		name := cl.Status.Server
		if name == "" || cl.Metadata.DeletedAt != nil {
			continue
		}
		srv, err := store.Peek[*resource.Server](c.cfg.Objects, name)
		if err != nil {
			continue // it is gone since
		}
		s := &seat{claim: cl, server: srv, cfg: p.Fleet.ConfigOf(cl)}
		s.report, s.heard = c.cfg.Reports.Server(name)
		if g.Status.Rollout != nil {
			s.member = g.Status.Rollout.Members[name]
		}
		errs = append(errs, c.observe(ctx, p, g, s))
		out[name] = s
	}
	return out, errors.Join(errs...)
}

// observe notes what a report says of boots, and what became of an order. What is not
// stored is not concluded from: its time is that of the note.
func (c *Room) observe(ctx context.Context, p *revisions.Pass, g *resource.ServerGroup, s *seat) error {
	if s.cfg == nil || s.cfg.Spec.Group != g.Metadata.Name {
		return nil
	}
	if was := s.cfg.Status.Seen; was != nil {
		s.seen = *was
	}
	next := s.seen
	if b := c.lastBoot(p.Fleet, s); b != nil && !sameBoot(b, next.Booted) {
		b.At = second(p)
		next.Booted = b
	}
	if b := s.lastFailure(); b != nil && !sameBoot(b, next.Failed) {
		b.At = second(p)
		next.Failed = b
	}
	next.Order = c.orderNow(s, next.Order)
	if reflect.DeepEqual(next, s.seen) {
		return nil
	}
	return c.note(ctx, s, next)
}

// note stores what was seen of a server.
func (c *Room) note(ctx context.Context, s *seat, next resource.BootSeen) error {
	own := store.Copy(c.cfg.Objects, s.cfg)
	own.Status.Seen = &next
	if err := c.cfg.Objects.Put(ctx, own); err != nil {
		return err
	}
	s.cfg, s.seen = own, next
	return nil
}

func sameBoot(a, b *resource.SeenBoot) bool {
	return b != nil && a.Attempt == b.Attempt && a.Generation == b.Generation && a.Image == b.Image
}

// dataOf is the user data of a configuration where it is the group's.
func (s *seat) dataOf(ref *resource.IgnitionRef) string {
	if ref == nil || s.claim.Spec.IgnitionSecretRef != nil {
		return ""
	}
	return ref.Digest
}

// lastBoot is the boot that the last report proves, or somebody's word; nil without.
func (c *Room) lastBoot(f plan.Fleet, s *seat) *resource.SeenBoot {
	cfg, r := s.cfg, s.report
	if r == nil || len(r.Provisioned) == 0 {
		if w := cfg.Status.Adopted; w != nil && s.seen.Booted == nil {
			return &resource.SeenBoot{Attempt: "adopted", Generation: cfg.Metadata.Generation, Image: w.ImageDigest, Data: s.dataOf(cfg.Spec.Ignition)}
		}
		return nil
	}
	rec, ok := c.cfg.Revisions.OpenedRecord(f, s.server.Metadata.Name, r.Provisioned)
	if !ok || rec.OwnerUID != cfg.Spec.Owner.UID {
		return nil
	}
	former := cfg.Spec.Former
	if b := r.Fallback; b != nil && b.Since != nil && former != nil && b.Generation == cfg.Metadata.Generation && rec.Generation == b.Generation {
		// It had booted the configuration once, and boots the one before since.
		return &resource.SeenBoot{Attempt: "fallback " + b.Since.UTC().Format(time.RFC3339Nano), Generation: former.Generation, Image: former.Image.Digest, Data: s.dataOf(former.Ignition)}
	}
	out := &resource.SeenBoot{Attempt: rec.Attempt, Generation: rec.Generation, Image: rec.ImageDigest}
	switch {
	case rec.Generation == cfg.Metadata.Generation:
		out.Data = s.dataOf(cfg.Spec.Ignition)
	case former != nil && rec.Generation == former.Generation:
		out.Data = s.dataOf(former.Ignition)
	case s.seen.Booted != nil && s.seen.Booted.Generation == rec.Generation:
		out.Data = s.seen.Booted.Data
	}
	return out
}

// lastFailure is the end of attempts with the present configuration that the last report
// tells of; nil without. One that the agent tries again by itself is none.
func (s *seat) lastFailure() *resource.SeenBoot {
	r, cfg := s.report, s.cfg
	out := &resource.SeenBoot{Generation: cfg.Metadata.Generation, Image: cfg.Spec.Image.Digest, Data: s.dataOf(cfg.Spec.Ignition)}
	if s.fellBack() {
		out.Attempt, out.Reason = "fallback "+r.Fallback.Since.UTC().Format(time.RFC3339Nano), "it returned to the image before: "+r.Fallback.Reason
		return out
	}
	if r == nil || r.OwnerUID != cfg.Spec.Owner.UID || r.BootGeneration != 0 && r.BootGeneration != cfg.Metadata.Generation {
		return nil
	}
	spent, failed := r.Condition(resource.CondGrantSpent), r.Condition(resource.CondFirstBootFailed)
	a, code := r.Attempt, resource.AttemptCode("")
	if a != nil {
		out.Attempt, code = a.ID, a.Code
	}
	switch {
	case spent == nil && failed == nil:
		return nil
	case failed != nil:
		out.Reason = failed.Message
	default:
		out.Reason = spent.Message
	}
	fetched := r.Condition(resource.CondUnexpectedPower) != nil || code == resource.AttemptImageFailed || code == resource.AttemptNoReport
	if !gaveUpRule(spent != nil, r.Fallback != nil, fetched) {
		return nil
	}
	return out
}

// fellBack says whether the agent has given up the present configuration for the one before. That is the one
// in force there, so that BootGeneration of the report is of the other.
func (s *seat) fellBack() bool {
	r := s.report
	return r != nil && r.OwnerUID == s.cfg.Spec.Owner.UID && r.Fallback != nil && r.Fallback.Since != nil && r.Fallback.Generation == s.cfg.Metadata.Generation
}

// gaveUpRule says whether a failed boot is not tried again by the agent. The first row that
// fits decides.
//
//	spent | fallback | fetched | gave up
//	yes   | *        | *       | yes
//	no    | yes      | *       | no
//	no    | no       | yes     | yes
//	no    | no       | no      | no
//
// spent is that the grant is used up. fallback is that the agent counts failures until it
// returns to the image before. fetched is that the image had begun.
func gaveUpRule(spent, fallback, fetched bool) bool { return spent || !fallback && fetched }

// open says whether the agent is booting the server from the network.
func (s *seat) open() bool {
	a := s.report.Attempt
	return a != nil && a.State != resource.AttemptSucceeded && a.State != resource.AttemptFailed && !s.restarts()
}

// restarts says whether a server is started from its disk again after its installation,
// which is the end of that and no failure of the image.
func (s *seat) restarts() bool {
	a, b := s.report.Attempt, s.seen.Booted
	if plan.Repeats(s.cfg.Spec.Owner.Kind, s.cfg.Spec.BootPolicy) || b == nil || b.Generation != s.cfg.Metadata.Generation || s.report.Unexpected != nil {
		return false
	}
	return a != nil && a.Intended == protocol.TargetHdd && a.State != resource.AttemptFailed || a != nil && a.State == resource.AttemptSucceeded && a.Intended != protocol.TargetHdd
}

func second(p *revisions.Pass) time.Time { return p.Now.UTC().Truncate(time.Second) }
