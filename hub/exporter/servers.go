package exporter

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// inRack is what is counted by rack and a word.
type inRack struct{ rack, word string }

// servers counts servers by rack.
type servers struct{ phases, powers, codes, stages, oldest, stale, dark *metric }

func newServers() *servers {
	return &servers{
		phases: desc("servers", "Servers by rack and phase.", "rack", "phase"),
		powers: desc("servers_power", "Servers by rack and power state; Unknown also where the last read is too old.", "rack", "power"),
		codes:  desc("conditions", "Conditions of servers that are so, the agent's and the hub's, by rack and code.", "rack", "code"),
		stages: desc("hub_boot_stage_oldest_seconds", "How long the open boot of a rack is in its stage that is in it longest, by stage; absent where no boot is.", "rack", "stage"),
		oldest: desc("hub_read_oldest_seconds", "Age of the last recorded read of the server whose is the oldest, by rack; 0 without a server that was heard of.", "rack"),
		stale:  desc("hub_stale_servers", "Servers whose last recorded read is older than three polls, by rack.", "rack"),
		dark:   desc("hub_dark_servers", "Servers of which their agent has said nothing for 45 s, by rack.", "rack"),
	}
}

func (g *servers) descs() []*metric {
	return []*metric{g.phases, g.powers, g.codes, g.stages, g.oldest, g.stale, g.dark}
}

func (g *servers) collect(s *scrape) {
	g.boots(s)
	n := tally{map[resource.Phase]int{}, map[protocol.PowerState]int{}, map[resource.ConditionCode]int{}}
	phases, powers := resource.Phases(), protocol.PowerStates()
	for i, r := range s.racks {
		rack, rows := r.Metadata.Name, s.of(i)
		n.count(rows)
		for _, p := range phases {
			s.gauge(g.phases, float64(n.phases[p]), rack, string(p))
		}
		for _, p := range powers {
			s.gauge(g.powers, float64(n.powers[p]), rack, string(p))
		}
		for code, found := range n.codes {
			if s.room.known[code] {
				s.gauge(g.codes, float64(found), rack, string(code))
			}
		}
		var oldest time.Duration
		stale, dark := 0, 0
		for _, one := range rows {
			if one.report != nil {
				oldest = max(oldest, one.read.Age)
			}
			if one.stale {
				stale++
			}
			if one.dark {
				dark++
			}
		}
		s.gauge(g.oldest, oldest.Seconds(), rack)
		s.gauge(g.stale, float64(stale), rack)
		s.gauge(g.dark, float64(dark), rack)
	}
}

// tally counts the servers of a rack by a word.
type tally struct {
	phases map[resource.Phase]int
	powers map[protocol.PowerState]int
	codes  map[resource.ConditionCode]int
}

// count begins anew.
func (t tally) count(rows []seen) {
	clear(t.phases)
	clear(t.powers)
	clear(t.codes)
	for _, one := range rows {
		t.phases[one.phase]++
		t.powers[one.power()]++
		for _, code := range one.codes {
			t.codes[code]++
		}
		if one.stale {
			t.codes[resource.CondStale]++
		}
		if one.dark {
			t.codes[resource.CondDark]++
		}
	}
}

// boots says which boots stand longest where they are. An agent's time is brought to the hub's clock.
func (g *servers) boots(s *scrape) {
	apart, ahead := s.room.cfg.Reports.Apart(s.now), map[string]time.Duration{}
	for _, r := range s.racks {
		ahead[r.Metadata.Name] = apart[r.Status.Agent]
	}
	longest := map[inRack]time.Duration{}
	for _, one := range s.rows {
		a := one.attempt
		if a.state == "" || ended(a.state) || a.since.IsZero() {
			continue
		}
		k := inRack{one.rack, string(a.state)}
		longest[k] = max(longest[k], s.now.Add(ahead[one.rack]).Sub(a.since))
	}
	for k, d := range longest {
		s.gauge(g.stages, d.Seconds(), k.rack, k.word)
	}
}
