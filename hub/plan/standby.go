package plan

import (
	"slices"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// StandsBy says whether a rack has a standby that is sent documents: one of a release that does not
// heed that it stands by is sent none.
func (f Fleet) StandsBy(r *resource.Rack) bool {
	return r.Status.Standby != "" && slices.Contains(f.Peers[r.Status.Standby].Capabilities, message.CapStandby)
}

// compileStandby makes the documents of the agent that stands by for a rack's. They are those that the active one
// has, or would have, but for all that only that one may do or open: grants, requests, approvals, and what is sealed. A
// hold is in it until it has left the store.
func compileStandby(f Fleet, active Documents, r *resource.Rack) Documents {
	agent := r.Status.Standby
	term := uint64(0)
	if a := f.index.agents[agent]; a != nil {
		term = a.Spec.Term
	}
	d := Documents{Holds: message.HoldDoc{Agent: agent, Term: term, Standby: true}, TooOld: map[string][]message.Capability{}, Unheeded: map[string][]string{}}
	for _, h := range f.index.holds[r.Metadata.Name] {
		d.Holds.Holds = append(d.Holds.Holds, resource.ActiveHold{ID: h.Metadata.Name, HoldSpec: h.Spec, ConfirmedDown: h.Status.ConfirmedDown})
	}
	for _, doc := range active.Racks {
		doc.Agent, doc.Term = agent, term
		if doc.Rack != nil {
			doc.Rack = rackIntent(f, r, f.Peers[agent])
			doc.Rack.Standby = true
			doc.Rack.Upgrade = upgradeIntent(f, agent)
			doc.Rack.Twin = twinOf(f, r.Status.Agent)
		}
		servers := make([]message.ServerIntent, len(doc.Servers))
		for i, in := range doc.Servers {
			servers[i] = unsealed(in)
		}
		doc.Servers = servers
		d.Racks = append(d.Racks, doc)
	}
	return d
}

// unsealed is a server's entry without what only the active agent may do or open.
func unsealed(in message.ServerIntent) message.ServerIntent {
	in.BMC.Sealed = nil
	if in.Boot == nil {
		return in
	}
	boot := *in.Boot
	boot.Grant, boot.GrantFor, boot.Ignition = nil, "", nil
	if boot.Env != nil {
		in.Boot = nil // its files are rendered from what is sealed
		return in
	}
	if boot.Fallback != nil {
		fallback := *boot.Fallback
		fallback.Grant, fallback.GrantFor, fallback.Ignition = nil, "", nil
		boot.Fallback = &fallback
	}
	in.Boot = &boot
	return in
}

// twin is the agent that stands by for a rack's.
func twin(f Fleet, r *resource.Rack) *message.TwinIntent {
	if !f.StandsBy(r) {
		return nil
	}
	return twinOf(f, r.Status.Standby)
}

func twinOf(f Fleet, agent string) *message.TwinIntent {
	a := f.index.agents[agent]
	if a == nil {
		return nil
	}
	return &message.TwinIntent{Agent: agent, Key: a.Spec.Key}
}
