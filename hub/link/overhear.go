package link

import (
	"rackboot/hub/reports"
	"rackboot/hub/store"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Hubs that share a store hear all agents, and each speaks with those alone that it works. What it hears of the others
// is shown, and is believed as far as signatures go: no nonce of this hub proves that it is new. Nothing is written and
// nothing follows; whoever takes over hears all of it again.

// overheard is what became of a report of an agent that another hub works.
type overheard string

const (
	overheardTaken   overheard = "taken"
	overheardOlder   overheard = "older"   // it is not known to be newer than what is here
	overheardLacking overheard = "lacking" // it tells a change of what is not here
)

// overhear takes the report of an agent that another hub works.
func overhear(cfg Config, known *contacts, a *resource.Agent, m message.Report) overheard {
	name, now := a.Metadata.Name, cfg.Clock()
	known.with(name, func(k *contact) { k.overheard = m.Session })
	l, err := cfg.Store.Ledgers.Peek(name)
	if last, _, heard := cfg.Reports.Agent(name); err != nil || !credible(m, last, heard, l.Peer.Head) || !cfg.Reports.Accepts(name, m) {
		return overheardOlder
	}
	m.Agent, m.Rack = name, a.Spec.RackRef.Name
	if !cfg.Terms.Active(a) {
		cfg.Reports.Hear(m, now)
		return overheardTaken
	}
	rack, have := rackOf(cfg.Store, m.Rack), true
	var news []resource.ServerReport
	changed := false
	if m.As > 0 {
		news, changed, have = cfg.Reports.Change(m, rack, now)
	} else {
		cfg.Heard.Found(m)
		news, changed = cfg.Reports.Put(m, rack, now)
	}
	if !have {
		return overheardLacking
	}
	for _, s := range news {
		cfg.Heard.Shown(a, s, changed)
	}
	return overheardTaken
}

// credible reports whether a report that no nonce shows to be new is later than what is known: kept is how far the
// agent's store had come when the hub that works it wrote that last. A report of another session than the last one counts
// where the store has come further since, or as far at a later time of the agent's clock.
func credible(m, last message.Report, heard bool, kept message.StoreHead) bool {
	if m.StoreHead.Store == kept.Store && m.StoreHead.Sequence < kept.Sequence {
		return false
	}
	if !heard || last.Session == m.Session || last.StoreHead.Store != m.StoreHead.Store {
		return true
	}
	return m.StoreHead.Sequence > last.StoreHead.Sequence || m.StoreHead.Sequence == last.StoreHead.Sequence && m.At.After(last.At)
}

// rackOf is what reports may speak of.
func rackOf(s *store.Store, rack string) reports.Rack {
	return reports.Rack{Changes: s.Changes(rack), Has: func(server string) bool {
		in, err := s.Objects.RackOf(server)
		return err == nil && in == rack
	}}
}
