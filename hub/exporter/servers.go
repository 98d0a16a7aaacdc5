package exporter

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// desc is a metric of the hub.
func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("rackboot_"+name, help, labels, nil)
}

// inRack is what is counted by rack and a word.
type inRack struct{ rack, word string }

// servers counts servers by rack.
type servers struct{ phases, powers, codes, stages, oldest, stale, dark *prometheus.Desc }

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

func (g *servers) descs() []*prometheus.Desc {
	return []*prometheus.Desc{g.phases, g.powers, g.codes, g.stages, g.oldest, g.stale, g.dark}
}

func (g *servers) collect(s *scrape) {
	phases, powers, codes := map[inRack]int{}, map[inRack]int{}, map[inRack]int{}
	oldest, stale, dark := map[string]float64{}, map[string]int{}, map[string]int{}
	for _, one := range s.rows {
		phases[inRack{one.rack, string(one.phase)}]++
		powers[inRack{one.rack, string(one.power())}]++
		for _, code := range one.codes() {
			codes[inRack{one.rack, string(code)}]++
		}
		if report, _ := s.room.cfg.Reports.Server(one.server); report != nil {
			oldest[one.rack] = max(oldest[one.rack], one.read.Age.Seconds())
		}
		if one.stale {
			stale[one.rack]++
		}
		if one.dark {
			dark[one.rack]++
		}
	}
	g.boots(s)
	for _, r := range s.racks {
		rack := r.Metadata.Name
		for _, p := range resource.Phases() {
			s.gauge(g.phases, float64(phases[inRack{rack, string(p)}]), rack, string(p))
		}
		for _, p := range protocol.PowerStates() {
			s.gauge(g.powers, float64(powers[inRack{rack, string(p)}]), rack, string(p))
		}
		for _, c := range resource.Conditions() {
			if n := codes[inRack{rack, string(c.Code)}]; n > 0 {
				s.gauge(g.codes, float64(n), rack, string(c.Code))
			}
		}
		s.gauge(g.oldest, oldest[rack], rack)
		s.gauge(g.stale, float64(stale[rack]), rack)
		s.gauge(g.dark, float64(dark[rack]), rack)
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
		if a.State == "" || ended(a.State) || a.Since.IsZero() {
			continue
		}
		k := inRack{one.rack, string(a.State)}
		longest[k] = max(longest[k], s.now.Add(ahead[one.rack]).Sub(a.Since))
	}
	for k, d := range longest {
		s.gauge(g.stages, d.Seconds(), k.rack, k.word)
	}
}
