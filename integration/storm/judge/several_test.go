package judge

import (
	"slices"
	"strings"
	"testing"

	"rackboot/protocol"
)

// honestHubs is honest with two hubs.
func honestHubs() History {
	h := honest()
	h.Hubs = 2
	head := func(epoch, version uint64) map[string]protocol.Head {
		return map[string]protocol.Head{"hold": {Epoch: epoch, Version: version}}
	}
	h.Agents = []Heads{{At: 10 * sec, Applied: head(1, 4), Fence: 3}, {At: 20 * sec, Applied: head(1, 4), Fence: 4}, {At: 30 * sec, Applied: head(2, 1), Fence: 4}}
	h.Probes = []Probe{{Fault: "a", Server: "n9", From: 20 * sec, Accepted: 29 * sec, Fenced: 39 * sec, To: 40 * sec}}
	return h
}

// Each lie about several hubs is found, by the promise that it breaks.
func TestSeveral(t *testing.T) {
	for _, c := range []struct {
		name    string
		lie     func(h *History)
		promise Promise // empty: none is broken
		why     string
	}{
		{"the truth", func(*History) {}, "", ""},
		{"a defect", func(h *History) { h.Ops[1].Raw = true }, NoRaw, "reboot was answered"},
		{"an earlier version", func(h *History) { h.Agents[1].Applied["hold"] = protocol.Head{Epoch: 1, Version: 3} }, Forward, "version 3"},
		{"an earlier epoch of a later version", func(h *History) { h.Agents[2].Applied["hold"] = protocol.Head{Epoch: 0, Version: 9} }, Forward, "epoch 0"},
		{"a document that is gone", func(h *History) { delete(h.Agents[2].Applied, "hold") }, Forward, "hold of epoch 0"},
		{"an earlier fence", func(h *History) { h.Agents[2].Fence = 3 }, Forward, "follows fence 3"},
		{"accepted too late", func(h *History) { h.Probes[0].Accepted = 30*sec + 1 }, InTime, "accepted"},
		{"never accepted", func(h *History) { h.Probes[0].Accepted, h.Probes[0].Fenced = 0, 0 }, InTime, "not accepted"},
		{"Fenced too late", func(h *History) { h.Probes[0].Fenced = 40*sec + 1 }, InTime, "Fenced"},
		{"never Fenced", func(h *History) { h.Probes[0].Fenced = 0 }, InTime, "not Fenced"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := honestHubs()
			c.lie(&h)
			v := Judge(h)
			if c.promise == "" && len(v.Violations) > 0 {
				t.Fatalf("broken: %+v", v.Violations)
			}
			if c.promise != "" && !slices.ContainsFunc(v.Violations, func(x Violation) bool { return x.Promise == c.promise && strings.Contains(x.Why, c.why) }) {
				t.Errorf("%s is not found: %+v", c.promise, v.Violations)
			}
			for _, x := range v.Violations {
				if x.Promise != c.promise {
					t.Errorf("%s is broken too: %s", x.Promise, x.Why)
				}
			}
			for _, p := range PromisesOf(2) {
				if !slices.ContainsFunc(v.Exercises, func(e Exercise) bool { return e.Promise == p }) {
					t.Errorf("%s was not at stake", p)
				}
			}
		})
	}
}

// Of a hub by itself nothing more is judged than before.
func TestSeveralAlone(t *testing.T) {
	h := honestHubs()
	h.Hubs, h.Ops[1].Raw = 1, true
	if v := Judge(h); len(v.Violations) > 0 {
		t.Errorf("broken: %+v", v.Violations)
	}
}
