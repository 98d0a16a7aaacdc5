package faults

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// What people do. Each is what the hub's API does with it; nothing is done while
// the hub is dead. What the hub did not answer to is not promised.

func (s *site) place(server string, mode resource.StopMode) (id string) {
	h := s.hub
	if !h.writable() {
		return ""
	}
	s.keys++
	hold := storeHold(fmt.Sprintf("k%d", s.keys), server)
	hold.Spec.Mode = mode
	got, err := h.store.Holds.Create(s.ctx, hold)
	if !h.alive() || err != nil {
		s.answered("hold", err)
		return ""
	}
	id = got.Metadata.Name
	s.book.mu.Lock()
	s.book.holds[id] = true
	s.book.mu.Unlock()
	s.note("hold %s on %s, %s", id, server, mode)
	return id
}

func (s *site) release(id string) {
	h := s.hub
	if !h.writable() {
		return
	}
	s.book.mu.Lock()
	delete(s.book.holds, id)
	s.book.released[id] = max(s.book.released[id], h.epoch())
	s.book.mu.Unlock()
	_, err := h.store.Holds.Release(s.ctx, id, "somebody", "")
	if protocol.CodeOf(err) != protocol.CodeNotFound {
		s.answered("release", err)
	}
	s.note("release %s", id)
}

// live are the holds that could be released.
func (s *site) live() []string {
	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	return slices.Sorted(maps.Keys(s.book.holds))
}

// reboot asks for one as the API does: not under a hold, and with a claim that
// wants the server On.
func (s *site) reboot(server string, within time.Duration) (id string) {
	h := s.hub
	if !h.writable() {
		return ""
	}
	claim := h.store.Claims.Of(server)
	if claim == nil || claim.Metadata.DeletedAt != nil || len(h.store.Holds.On(server)) > 0 {
		return ""
	}
	rack, err := h.store.Objects.RackOf(server)
	if err != nil {
		s.t.Fatal(err)
	}
	now := time.Now().UTC()
	q := store.StoredRequest{Rack: rack, CreatedAt: now, Request: resource.Request{
		ID: s.newID(), Server: server, Action: resource.RequestReboot, Mode: resource.StopHard, By: "somebody",
		NotAfter: now.Add(within), Precondition: resource.Precondition{OwnerUID: claim.Metadata.UID},
	}}
	if s.chance(0.5) {
		q.Mode = resource.StopSoft
	}
	q.Report = resource.RequestReport{ID: q.ID, Outcome: resource.OutcomePending, At: now}
	s.book.mu.Lock()
	s.book.requests[q.ID] = &asked{Request: q.Request, cycles: map[int]bool{}, lost: true} // until it is answered
	s.book.mu.Unlock()
	_, err = h.store.Requests.Create(s.ctx, q)
	if protocol.CodeOf(err) == protocol.CodeConflict {
		return "" // too many have not ended: refused, and nothing was promised
	}
	if err != nil || !h.alive() {
		s.answered("request", err)
		return ""
	}
	s.book.mu.Lock()
	s.book.requests[q.ID].lost = false
	s.book.mu.Unlock()
	s.note("reboot %s of %s within %s", q.ID, server, within)
	return q.ID
}

// claim claims the server if it has none, else deletes its claim.
func (s *site) claim(server string) {
	h := s.hub
	if !h.writable() {
		return
	}
	name := "c-" + server
	if h.store.Claims.Of(server) != nil {
		s.unclaim(name, server)
		return
	}
	if _, err := store.Get[*resource.Claim](h.store.Objects, name); err == nil {
		return // it has not bound yet
	}
	_, err := h.store.Sets.Apply(s.ctx, []resource.Object{storetest.Claim(name, server)}, store.ApplyOptions{By: "somebody"})
	s.answered("claim", err)
	s.note("claim %s", server)
}

// unclaim deletes a claim. Under holds that is refused, unless they are released with
// it.
func (s *site) unclaim(name, server string) {
	h := s.hub
	var with store.HoldRelease
	held := h.store.Holds.On(server)
	if len(held) > 0 {
		_, err := h.store.Claims.Delete(s.ctx, name, with)
		if c := h.store.Claims.Of(server); c != nil && c.Metadata.DeletedAt == nil && h.alive() && protocol.CodeOf(err) != protocol.CodeConflict {
			s.t.Errorf("unclaim under %d holds: %v", len(held), err)
		}
		if s.chance(0.5) {
			return
		}
		with = store.HoldRelease{By: "somebody", Reason: "the claim goes", BreakGlass: true}
		s.book.mu.Lock()
		for _, hold := range held {
			delete(s.book.holds, hold.Metadata.Name)
			s.book.released[hold.Metadata.Name] = max(s.book.released[hold.Metadata.Name], h.epoch())
		}
		s.book.mu.Unlock()
	}
	_, err := h.store.Claims.Delete(s.ctx, name, with)
	s.answered("unclaim", err)
	s.note("unclaim %s, with %d holds", server, len(held))
}

// answered fails on an error that a living hub must not give.
func (s *site) answered(what string, err error) {
	if err != nil && s.hub.alive() {
		s.t.Errorf("%s: %v", what, err)
	}
}

// somebody does one thing, at random.
func (s *site) somebody() {
	servers := slices.DeleteFunc([]string{installed, claimed, unclaimed}, func(name string) bool { return name == s.spared })
	modes := []resource.StopMode{resource.StopSoft, resource.StopHard}
	ids := s.live()
	switch n := s.rng.IntN(12); {
	case n < 3 && len(ids) < 4:
		s.place(servers[s.rng.IntN(len(servers))], modes[s.rng.IntN(2)])
	case n < 6 && len(ids) > 0:
		s.release(ids[s.rng.IntN(len(ids))])
	case n < 9:
		s.reboot(installed, time.Minute+s.random(9*time.Minute))
	case s.spared != claimed && s.hub.writable() && (s.hub.store.Claims.Of(claimed) == nil || s.chance(0.25)):
		s.claim(claimed) // most claims live to be booted
	}
}

func storeHold(key, server string) *resource.Hold { return storetest.Hold("somebody", key, server) }
