package store

import (
	"errors"

	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// Servers are what decisions about servers depend on, and their records.
type Servers struct {
	disk      *disk
	events    *Events
	approvals *Approvals
	local     *Local
}

// serving is the rack's intent, and whether this agent may act on it. The intent grows
// with the rack, and is not decoded for each server.
func (s *Servers) serving(t state.Txn) (rack message.RackIntent, as stance, err error) {
	if rack, as, have := s.disk.mirror.said(); have {
		return rack, as, nil
	}
	rack, synced, err := get[message.RackIntent](t, keyRack)
	if err != nil {
		return rack, stance{}, err
	}
	_, over, err := get[message.EndOfTerm](t, keyEnded)
	if err != nil {
		return rack, stance{}, err
	}
	aside, err := s.disk.mirror.asideOn(t)
	if err != nil {
		return rack, stance{}, err
	}
	standby, err := s.disk.mirror.standbyOn(t, rack)
	if err != nil {
		return rack, stance{}, err
	}
	replaced, _, err := get[bool](t, keyReplaced)
	return rack, stanceOf(synced, replaced, over, standby, aside), err
}

func (s *Servers) view(t state.Txn, server string) (v View, err error) {
	rack, as, err := s.serving(t)
	if err != nil {
		return v, err
	}
	v.serve(rack, as)
	if v.Incarnation, err = incarnation(t); err != nil {
		return v, err
	}
	in, found, err := get[Intent](t, keyIntents+server)
	if err != nil {
		return v, err
	}
	if found {
		v.Intent = &in
	}
	if v.Holds, err = scan[decide.Hold](t, keyHolds+server+"/"); err != nil {
		return v, err
	}
	if v.Released, err = releasedHere(t, server); err != nil {
		return v, err
	}
	if v.Requests, err = scan[resource.Request](t, keyRequests+server+"/"); err != nil {
		return v, err
	}
	if v.Asked, err = scan[resource.Request](t, keyAsked+server+"/"); err != nil {
		return v, err
	}
	v.Record, _, err = get[decide.Record](t, keyRecords+server)
	v.Record.Server = server
	if err != nil {
		return v, err
	}
	if v.Intent != nil {
		v.Intent.ServerIntent = decide.InForce(v.Intent.ServerIntent, &v.Record)
	}
	return v, s.approvals.bulk(t, server, &v)
}

// View returns the view of one server, as it is on disk.
func (s *Servers) View(name string) (View, error) {
	v, _, err := s.viewAt(name)
	return v, err
}

// viewAt is View with the stamp by which it is known later whether the view still counts.
func (s *Servers) viewAt(server string) (v View, at stamp, err error) {
	v, at, have := s.disk.views.at(server)
	rack, as, said := s.disk.mirror.said()
	if have && said && v.bulk == s.approvals.guarded() {
		v.serve(rack, as)
		return v, at, s.disk.answers(keyRecords + server)
	}
	err = s.disk.db.View(func(t state.Txn) error {
		v, err = s.view(t, server)
		return err
	})
	if err == nil {
		s.disk.views.keep(server, v, at)
	}
	return v, at, err
}

// serve says what the view has of the rack.
func (v *View) serve(rack message.RackIntent, as stance) {
	v.Rack, v.Synced, v.Ended, v.Aside, v.Standby = rack, as.serves, as.over, as.aside, as.standby
}

// Step decides on a server's view, and puts the plan's record and events on
// disk, all in one transaction: a hold that another goroutine enforces meanwhile
// makes the decision be taken again. A plan that writes nothing needs none. The holds of Plan.Expire end in it too, and
// after is without them. choose must be pure.
func (s *Servers) Step(server string, choose func(View) decide.Plan) (plan decide.Plan, after View, err error) {
	s.disk.crash.At("agent.step.decide")
	seen, at, err := s.viewAt(server)
	if err != nil {
		return decide.Plan{}, View{}, failing("record what happens to "+server, err)
	}
	plan = choose(seen)
	if !writes(plan) && s.disk.views.stand(server, at) {
		seen.Record = plan.Record
		return plan, seen, nil
	}
	var raw []byte // the record
	stood := false
	err = s.disk.update(func(t state.Txn) error {
		v := seen.apart()
		if stood = s.disk.views.stand(server, at); !stood {
			now, err := s.view(t, server)
			if err != nil {
				return err
			}
			v, plan = now, choose(now)
		}
		v.Record = plan.Record
		after = v
		if !writes(plan) {
			return errNothing
		}
		var err error
		if raw, err = encode(keyRecords+server, plan.Record); err == nil {
			err = t.Set(keyRecords+server, raw)
		}
		if err != nil {
			return err
		}
		if err := errors.Join(s.approvals.clear(t, v, plan.Cleared), spendBoot(t, v, plan.Spent)); err != nil {
			return err
		}
		if err := forgetAsked(t, v); err != nil {
			return err
		}
		if err := s.events.appendAll(t, plan.Happened); err != nil || len(plan.Expire) == 0 {
			return err
		}
		after, err = s.expire(t, v, plan)
		return err
	})
	if errors.Is(err, errNothing) {
		return plan, after, nil
	}
	if err != nil {
		return decide.Plan{}, View{}, failing("record what happens to "+server, err)
	}
	if stood {
		s.follow(server, seen, raw, at.written())
	}
	s.disk.crash.At("agent.step.persisted")
	return plan, after, nil
}

// follow keeps the view with the record that was just written, as it is on disk, so that it need not be read again. It
// counts only if nothing else was written of it. Which boot is in force (decide.InForce) depends on a fallback in the record: a view with one
// is read.
func (s *Servers) follow(server string, v View, raw []byte, at stamp) {
	fell := v.Record.Owners.Fallback != nil
	rec, err := decode[decide.Record](keyRecords+server, raw)
	if err != nil || fell || rec.Owners.Fallback != nil {
		return
	}
	v.Record, v.Record.Server = rec, server
	s.disk.views.keep(server, v, at)
}

// writes says whether anything of a plan goes on disk.
func writes(p decide.Plan) bool { return p.Persist || len(p.Happened) > 0 || len(p.Expire) > 0 }

// expire ends the holds whose time to live was over when the plan was made.
func (s *Servers) expire(t state.Txn, v View, plan decide.Plan) (View, error) {
	for _, e := range plan.Expire {
		for _, h := range v.Holds {
			if h.ID != e.HoldID {
				continue
			}
			if err := s.local.release(t, e.At, h, e.By, e.Reason); err != nil {
				return v, err
			}
		}
	}
	return s.view(t, v.Record.Server)
}

// errNothing ends a transaction that has nothing to write.
var errNothing = errors.New("nothing to write")

// Held says whether any hold lies on the server now.
func (s *Servers) Held(server string) (held bool, err error) {
	err = s.disk.db.View(func(t state.Txn) error {
		return t.Scan(keyHolds+server+"/", func(string, []byte) error {
			held = true
			return nil
		})
	})
	return held, err
}

// Coming are holds of a server that are guarded and could not be recorded.
func (s *Servers) Coming(server string) (holds []decide.Hold) {
	if s.disk.guard == nil {
		return nil
	}
	for _, raw := range s.disk.guard.Coming(server) {
		if h, err := decode[decide.Hold](keyHolds+server, raw); err == nil {
			holds = append(holds, h)
		}
	}
	return holds
}
