package exporter

import (
	"time"

	"rackboot/hub/store"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

// racks says how agents and BMCs of racks stand.
type racks struct{ contact, info, conds, offset, off, states, codes, left *metric }

func newRacks() *racks {
	return &racks{
		contact: desc("agent_last_report_timestamp_seconds", "When the hub got the last report of each agent that serves a rack or stands by; 0 if none since it started.", "rack", "agent", "role"),
		info:    desc("agent_info", "Always 1: the version of each agent that was heard.", "rack", "agent", "role", "version"),
		conds:   desc("hub_agent_conditions", "Always 1: a condition of an agent that serves a rack or stands by.", "rack", "agent", "code"),
		offset:  desc("agent_clock_offset_seconds", "Clock of each agent that reports, less the hub's.", "rack", "agent"),
		off:     desc("hub_agents_clock_off", "Agents that report, by whose clock is wrong as the hub sees it: none, agent-behind, agent-ahead, hub-behind, hub-ahead or unsure.", "who"),
		states:  desc("bmcs", "BMCs by rack and state.", "rack", "state"),
		codes:   desc("bmc_conditions", "Conditions of BMCs that are so, by rack and code.", "rack", "code"),
		left:    desc("hub_bmcs_left_out", "BMCs that were found and left out, because too many of the rack wait to be accepted.", "rack"),
	}
}

func (g *racks) descs() []*metric {
	return []*metric{g.contact, g.info, g.conds, g.offset, g.off, g.states, g.codes, g.left}
}

func (g *racks) collect(s *scrape) {
	apart := s.room.cfg.Reports.Apart(s.now)
	for _, r := range s.racks {
		g.agent(s, r.Metadata.Name, r.Status.Agent, resource.RoleActive, apart)
		g.agent(s, r.Metadata.Name, r.Status.Standby, resource.RoleStandby, apart)
	}
	g.clocks(s, apart)
	g.bmcs(s)
}

func (g *racks) agent(s *scrape, rack, agent string, role resource.AgentRole, apart map[string]time.Duration) {
	if agent == "" {
		return
	}
	last, got, heard := s.room.cfg.Reports.Agent(agent)
	s.at(g.contact, got, rack, agent, string(role))
	if heard {
		s.gauge(g.info, 1, rack, agent, string(role), last.Version)
	}
	if stored, err := store.Peek[*resource.Agent](s.room.cfg.Store.Objects, agent); err == nil {
		a := *stored
		s.room.cfg.Status.Decorate(&a)
		for _, code := range codesOf(a.Status.Conditions) {
			s.gauge(g.conds, 1, rack, agent, string(code))
		}
	}
	if d, known := apart[agent]; known {
		s.gauge(g.offset, d.Seconds(), rack, agent)
	}
}

// clocks counts agents by whose clock is wrong.
func (g *racks) clocks(s *scrape, apart map[string]time.Duration) {
	all := make([]time.Duration, 0, len(apart))
	for _, d := range apart {
		all = append(all, d)
	}
	n := map[decide.ClockOff]int{}
	for _, d := range apart {
		n[decide.AgentClock(d, all)]++
	}
	for _, off := range decide.ClockOffs() {
		s.gauge(g.off, float64(n[off]), string(off))
	}
}

func (g *racks) bmcs(s *scrape) {
	codes := map[string]map[resource.ConditionCode]int{}
	for name, conds := range s.room.cfg.Inventory.AllConditions() { // few BMCs have any
		b, err := store.Peek[*resource.BMC](s.room.cfg.Store.Objects, name)
		if err != nil {
			continue
		}
		rack := b.Spec.RackRef.Name
		if codes[rack] == nil {
			codes[rack] = map[resource.ConditionCode]int{}
		}
		for _, c := range conds {
			codes[rack][c.Code]++
		}
	}
	for i, r := range s.racks {
		rack := r.Metadata.Name
		s.gauge(g.left, float64(s.room.cfg.Inventory.LeftOut(rack)), rack)
		for _, state := range resource.BMCStates() {
			s.gauge(g.states, float64(s.bmcs[i][state]), rack, string(state))
		}
		for code, n := range codes[rack] {
			if s.room.known[code] {
				s.gauge(g.codes, float64(n), rack, string(code))
			}
		}
	}
}
