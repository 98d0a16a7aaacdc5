package top

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// tally counts the servers of a rack.
type tally struct{ servers, on, held, bad int }

// rackRows has a row for each rack, in the order of the snapshot.
func rackRows(s snapshot, now time.Time) []row {
	agents, held, counts := map[string]*resource.Agent{}, holdsOf(s), map[string]tally{}
	for _, a := range s.agents {
		agents[a.Metadata.Name] = a
	}
	for _, o := range s.servers {
		name := s.places.Of(o)
		n := counts[name]
		n.servers++
		if r := o.Status.Report; r != nil && !o.Status.Stale && r.Observation.Power == protocol.PowerOn {
			n.on++
		}
		if len(held[o.Metadata.Name]) > 0 {
			n.held++
		}
		if serverLevel(o, held[o.Metadata.Name], now) == failing {
			n.bad++
		}
		counts[name] = n
	}
	out := make([]row, len(s.racks))
	for i, o := range s.racks {
		agent, standby, n := agents[o.Status.Agent], agents[o.Status.Standby], counts[o.Metadata.Name]
		words := []string{o.Metadata.Name, o.Status.Agent}
		if agent != nil {
			for _, c := range agent.Status.Conditions {
				words = append(words, string(c.Code))
			}
		}
		out[i] = row{
			name: o.Metadata.Name, rack: o.Metadata.Name, level: rackLevel(o, agent, n, now), words: strings.ToLower(strings.Join(words, " ")),
			cells: func(now time.Time) []cell { return rackCells(o, agent, standby, n, frozen(o, s.freezes, now), now) },
		}
	}
	return out
}

// rackLevel is how much a rack matters, by the first row that fits.
//
//	failing  | it has no agent, or a silent one; a condition of its agent is an error
//	doubtful | a condition of its agent is a warning; the holds of an agent before are not known
//	busy     | a server of it is failing
//	quiet    | all others
func rackLevel(o *resource.Rack, agent *resource.Agent, n tally, now time.Time) level {
	if agent == nil || silent(agent) {
		return failing
	}
	_, is, _, _ := worst(agent.Status.Conditions, now)
	if len(o.Status.TakenOver) > 0 {
		is = max(is, doubtful)
	}
	if n.bad > 0 {
		is = max(is, busy)
	}
	return is
}

// silentRacks counts racks that have no agent, or a silent one.
func silentRacks(s snapshot) (n int) {
	heard := map[string]bool{}
	for _, a := range s.agents {
		heard[a.Metadata.Name] = !silent(a)
	}
	for _, o := range s.racks {
		if !heard[o.Status.Agent] {
			n++
		}
	}
	return n
}

// frozen are the freezes that lie on a rack or on some of its servers; empty for none.
func frozen(o *resource.Rack, all []*resource.Freeze, now time.Time) string {
	said := ""
	for _, z := range all {
		switch {
		case over(z, now):
		case z.Spec.All, z.Spec.RackRef != nil && z.Spec.RackRef.Name == o.Metadata.Name:
			return z.Metadata.Name
		case z.Spec.ServerSelector != nil && said == "":
			said = "by label"
		}
	}
	return said
}

// over reports whether a freeze has ended by its time.
func over(z *resource.Freeze, now time.Time) bool {
	return z.Status.Over || z.Spec.Until != nil && !now.Before(*z.Spec.Until)
}

func rackCells(o *resource.Rack, agent, standby *resource.Agent, n tally, freeze string, now time.Time) []cell {
	state, contact, conditions := cell{text: "heard", tone: printer.Good}, "", []resource.ConditionState(nil)
	switch {
	case o.Status.Agent == "":
		state = cell{text: "no agent", tone: printer.Bad}
	case agent == nil:
		state = cell{text: "unknown", tone: printer.Bad}
	case silent(agent):
		state = cell{text: "silent", tone: printer.Bad}
	case len(o.Status.TakenOver) > 0:
		state = cell{text: "taken over", short: "taken", tone: printer.Busy}
	}
	if agent != nil {
		contact, conditions = printer.Age(agent.Status.LastReport, now), agent.Status.Conditions
	}
	second := say(cmp.Or(o.Status.Standby, "-"))
	if standby != nil && silent(standby) {
		second = cell{text: "silent: " + o.Status.Standby, tone: printer.Bad}
	}
	bad := say(strconv.Itoa(n.bad))
	if n.bad > 0 {
		bad.tone = printer.Bad
	}
	ice := say("-")
	if freeze != "" {
		ice = cell{text: freeze, tone: printer.Busy}
	}
	return []cell{
		{text: o.Metadata.Name, tone: rackLevel(o, agent, n, now).tone()},
		state, say(cmp.Or(contact, "-")), say(strconv.Itoa(n.servers)), say(strconv.Itoa(n.on)),
		say(strconv.Itoa(n.held)), bad, ice, conditionCell(conditions, now), say(cmp.Or(o.Status.Agent, "-")), second,
	}
}
