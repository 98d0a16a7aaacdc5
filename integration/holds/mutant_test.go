package holds

import (
	"maps"
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// mutants are the expectation with one thing made wrong in each, by what it is. A true
// expectation has no mutant that holds as well.
func (e expect) mutants() map[string]expect {
	out := map[string]expect{}
	add := func(what string, change func(*expect)) {
		m := e
		m.After, m.Events, m.Conditions = maps.Clone(e.After), maps.Clone(e.Events), maps.Clone(e.Conditions)
		m.Holds, m.Requests = maps.Clone(e.Holds), maps.Clone(e.Requests)
		change(&m)
		out[what] = m
	}
	if e.Orders != nil {
		add("one order more", func(m *expect) { m.Orders = append(slices.Clone(m.Orders), "Nmi") })
	}
	if len(e.Orders) > 0 {
		add("one order less", func(m *expect) { m.Orders = m.Orders[1:] })
	}
	if e.Accepted != nil {
		add("one reset more", func(m *expect) { m.Accepted = append(slices.Clone(m.Accepted), "Nmi") })
	}
	for kind := range e.After {
		add("after "+kind, func(m *expect) { m.After[kind] = "1000h..1001h" })
	}
	for kind := range e.AtMost {
		add("at most no "+kind, func(m *expect) { m.AtMost = map[string]int{kind: 0} })
	}
	spoil(add, "power", e.Power, func(m *expect) *protocol.PowerState { return &m.Power })
	spoil(add, "read", e.Read, func(m *expect) *protocol.PowerState { return &m.Read })
	spoil(add, "restore", e.Restore, func(m *expect) *protocol.RestorePolicy { return &m.Restore })
	spoil(add, "phase", e.Phase, func(m *expect) *resource.Phase { return &m.Phase })
	spoil(add, "claim", e.Claim, func(m *expect) *string { return &m.Claim })
	if e.Machine != "" {
		add("machine", func(m *expect) { m.Machine += "?" })
	}
	if e.Epoch != nil {
		add("epoch", func(m *expect) { n := *e.Epoch + 1; m.Epoch = &n })
	}
	if e.Armed != nil {
		add("armed", func(m *expect) { m.Armed = not(e.Armed) })
	}
	for code, n := range e.Events {
		add("event "+string(code), func(m *expect) { m.Events[code] = n + 1 })
	}
	for code, is := range e.Conditions {
		add("condition "+string(code), func(m *expect) { m.Conditions[code] = !is })
	}
	for name, h := range e.Holds {
		for what, wrong := range h.mutants() {
			add("hold "+name+" "+what, func(m *expect) { m.Holds[name] = wrong })
		}
		add("hold "+name+" is gone", func(m *expect) { m.Holds, m.Gone = nil, []string{name} })
	}
	for _, name := range e.Gone {
		add("hold "+name+" is there", func(m *expect) { m.Gone, m.Holds = nil, map[string]holdIs{name: {}} })
	}
	for name, r := range e.Requests {
		for what, wrong := range r.mutants() {
			add("request "+name+" "+what, func(m *expect) { m.Requests[name] = wrong })
		}
	}
	return out
}

// spoil makes a word wrong that is expected.
func spoil[T ~string](add func(string, func(*expect)), what string, want T, field func(*expect) *T) {
	if want != "" {
		add(what, func(m *expect) { *field(m) = want + "?" })
	}
}

func (h holdIs) mutants() map[string]holdIs {
	out := map[string]holdIs{}
	add := func(what string, given bool, change func(*holdIs)) {
		if given {
			m := h
			change(&m)
			out[what] = m
		}
	}
	add("word", h.Word != "", func(m *holdIs) { m.Word += "?" })
	add("state", h.State != "", func(m *holdIs) { m.State += "?" })
	add("mode", h.Mode != "", func(m *holdIs) { m.Mode += "?" })
	add("ref", h.Ref != "", func(m *holdIs) { m.Ref += "?" })
	add("message", h.Message != "", func(m *holdIs) { m.Message += "?" })
	add("receipt", h.Receipt != nil, func(m *holdIs) { m.Receipt = not(h.Receipt) })
	add("manual", h.Manual != nil, func(m *holdIs) { m.Manual = not(h.Manual) })
	add("stale", h.Stale != nil, func(m *holdIs) { m.Stale = not(h.Stale) })
	add("waited", h.Waited != nil, func(m *holdIs) { other := *h.Waited + time.Second; m.Waited = &other })
	add("guarded", h.Guarded != nil, func(m *holdIs) { m.Guarded = not(h.Guarded) })
	add("expired", h.Expired != nil, func(m *holdIs) { m.Expired = not(h.Expired) })
	return out
}

func (r requestIs) mutants() map[string]requestIs {
	out := map[string]requestIs{}
	if r.Outcome != "" {
		m := r
		m.Outcome += "?"
		out["outcome"] = m
	}
	if r.Reason != "" {
		m := r
		m.Reason += "?"
		out["reason"] = m
	}
	if r.Mode != "" {
		m := r
		m.Mode += "?"
		out["mode"] = m
	}
	return out
}

func not(b *bool) *bool {
	n := !*b
	return &n
}
