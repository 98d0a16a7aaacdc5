package exporter

import (
	"time"

	"rackboot/protocol/resource"
)

// holds counts holds, and says how old the oldest is.
type holds struct{ words, states, oldest, unfenced *metric }

func newHolds() *holds {
	return &holds{
		words:    desc("holds", "Holds by rack and word.", "rack", "word"),
		states:   desc("hub_holds", "Holds by state.", "state"),
		oldest:   desc("hub_hold_oldest_seconds", "Age of the oldest hold that was not released, by mode; 0 without one.", "mode"),
		unfenced: desc("hub_hold_unfenced_oldest_seconds", "Age of the oldest hold whose server is neither proved nor confirmed off, by mode; 0 without one.", "mode"),
	}
}

func (g *holds) descs() []*metric {
	return []*metric{g.words, g.states, g.oldest, g.unfenced}
}

func (g *holds) collect(s *scrape) {
	words, states := map[inRack]int{}, map[resource.HoldState]int{}
	oldest, unfenced := map[resource.StopMode]time.Duration{}, map[resource.StopMode]time.Duration{}
	racks := s.rackOf(s.held())
	for _, h := range s.holds {
		words[inRack{racks[h.Spec.Server], string(h.Status.Word)}]++
		states[h.Status.State]++
		if h.Status.ReleasedAt != nil || h.Metadata.CreatedAt == nil {
			continue
		}
		age := s.now.Sub(*h.Metadata.CreatedAt)
		oldest[h.Spec.Mode] = max(oldest[h.Spec.Mode], age)
		if st := h.Status.State; st != resource.StateFenced && st != resource.StateConfirmed && st != resource.StateReleasing {
			unfenced[h.Spec.Mode] = max(unfenced[h.Spec.Mode], age)
		}
	}
	for _, r := range s.racks {
		rack := r.Metadata.Name
		for _, w := range []resource.HoldWord{resource.HoldAccepted, resource.HoldEnforced, resource.HoldFenced, resource.HoldReleased} {
			s.gauge(g.words, float64(words[inRack{rack, string(w)}]), rack, string(w))
		}
	}
	for _, st := range resource.HoldStates() {
		s.gauge(g.states, float64(states[st]), string(st))
	}
	for _, mode := range []resource.StopMode{resource.StopSoft, resource.StopHard} {
		s.gauge(g.oldest, oldest[mode].Seconds(), string(mode))
		s.gauge(g.unfenced, unfenced[mode].Seconds(), string(mode))
	}
}

// held are the servers of which there are holds.
func (s *scrape) held() map[string]bool {
	out := make(map[string]bool, len(s.holds))
	for _, h := range s.holds {
		out[h.Spec.Server] = true
	}
	return out
}
