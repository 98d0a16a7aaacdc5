package top

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
)

// row is a line of the table.
type row struct {
	name, rack string
	level      level
	// waits is since when something is awaited; zero for nothing.
	waits time.Time
	// words are what a filter looks at, in lower case.
	words string
	cells func(now time.Time) []cell
}

// serverRows has a row for each server, in the order of the snapshot.
func serverRows(s snapshot, now time.Time) []row {
	held := holdsOf(s)
	out := make([]row, len(s.servers))
	for i, o := range s.servers {
		holds, rack := held[o.Metadata.Name], s.places.Of(o)
		r := row{name: o.Metadata.Name, rack: rack, level: serverLevel(o, holds, now), cells: func(now time.Time) []cell { return serverCells(o, rack, holds, now, s.live) }}
		if p := o.Status.Report; p != nil && p.Awaits != nil {
			r.waits = p.Awaits.Since
		}
		words := []string{r.name, rack, string(o.Status.Phase), o.Status.Claim}
		for _, c := range o.Status.Conditions {
			words = append(words, string(c.Code))
		}
		r.words = strings.ToLower(strings.Join(words, " "))
		out[i] = r
	}
	return out
}

// holdsOf are the states of the holds that lie, by server: those that the hub has, and those that agents
// have and the hub does not.
func holdsOf(s snapshot) map[string][]resource.HoldState {
	out, known := map[string][]resource.HoldState{}, map[string]bool{}
	for _, h := range s.holds {
		known[h.Metadata.Name] = true
		if h.Status.Word != resource.HoldReleased || h.Status.State == resource.StateReleasing {
			out[h.Spec.Server] = append(out[h.Spec.Server], stateOf(h.Status.State, h.Status.Word))
		}
	}
	for _, o := range s.servers {
		if o.Status.Report == nil {
			continue
		}
		for _, h := range o.Status.Report.Holds {
			if !known[h.ID] && h.Word != resource.HoldReleased {
				out[o.Metadata.Name] = append(out[o.Metadata.Name], stateOf(h.State, h.Word))
			}
		}
	}
	return out
}

// stateOf is the state of a hold of which perhaps only the word is said.
func stateOf(s resource.HoldState, w resource.HoldWord) resource.HoldState {
	return cmp.Or(s, resource.HoldState(w), resource.StateAccepted)
}

func serverCells(s *resource.Server, rack string, holds []resource.HoldState, now time.Time, live bool) []cell {
	return []cell{
		{text: s.Metadata.Name, tone: serverLevel(s, holds, now).tone()},
		say(rack), phaseCell(s.Status.Phase), powerCell(s), stageCell(s), holdsCell(holds), awaitsCell(s, now),
		conditionCell(s.Status.Conditions, now), readCell(s, now, live), say(s.Status.Claim),
	}
}

func phaseCell(p resource.Phase) cell {
	switch p {
	case resource.PhaseError:
		return cell{text: string(p), tone: printer.Bad}
	case resource.PhaseDiscovery, resource.PhaseMaintenance, resource.PhaseReleasing:
		return cell{text: string(p), tone: printer.Busy}
	case resource.PhaseReserved:
		return cell{text: string(p), tone: printer.Good}
	case resource.PhaseInitial, resource.PhaseAvailable:
	}
	return say(string(p))
}

// powerCell is the power that was read last, and no more than that it is too old where it is.
func powerCell(s *resource.Server) cell {
	switch {
	case s.Status.Report == nil:
		return say("-")
	case s.Status.Stale:
		return cell{text: "stale", tone: printer.Bad}
	}
	return cell{text: string(s.Status.Report.Observation.Power), short: cut(string(s.Status.Report.Observation.Power), 5)}
}

func stageCell(s *resource.Server) cell {
	r := s.Status.Report
	if r == nil || r.Attempt == nil {
		return say("-")
	}
	c := cell{text: fmt.Sprintf("%s#%d", r.Attempt.State, r.Attempt.Number), short: string(r.Attempt.State)}
	switch {
	case failed(r.Attempt):
		c.tone = printer.Bad
	case underWay(r.Attempt):
		c.tone = printer.Busy
	}
	return c
}

// holdsCell is how many holds lie, and the state of the one that matters most.
func holdsCell(holds []resource.HoldState) cell {
	if len(holds) == 0 {
		return say("-")
	}
	most := slices.MaxFunc(holds, func(a, b resource.HoldState) int { return cmp.Compare(holdLevel(a), holdLevel(b)) })
	c := cell{text: fmt.Sprintf("%d %s", len(holds), most), short: fmt.Sprint(len(holds)), tone: holdLevel(most).tone()}
	if holdLevel(most) == quiet {
		c.tone = printer.Good
	}
	return c
}

// awaitsCell is what is waited for, how long already and how long at most: dhcp 2m/5m. Beyond that it is
// Bad. The times are by the agent's clock.
func awaitsCell(s *resource.Server, now time.Time) cell {
	if s.Status.Report == nil || s.Status.Report.Awaits == nil {
		return say("-")
	}
	w := s.Status.Report.Awaits
	ago := printer.Age(&w.Since, now)
	c := cell{text: fmt.Sprintf("%s %s", w.For, ago), tone: printer.Busy}
	if w.Until != nil {
		c.short = c.text
		c.text += "/" + printer.Age(&w.Since, *w.Until)
		if now.After(*w.Until) {
			c.tone = printer.Bad
		}
	}
	return c
}

// conditionCell is the worst condition, and how many there are besides.
func conditionCell(all []resource.ConditionState, now time.Time) cell {
	w, is, more, ok := worst(all, now)
	if !ok {
		return say("-")
	}
	c := cell{text: string(w.Code), tone: is.tone()}
	if more > 0 {
		c.short = string(w.Code)
		c.text += fmt.Sprintf(" +%d", more)
	}
	return c
}

// readCell is how long ago a server was read. A watch does not tell that of one whose reads are not too old.
func readCell(s *resource.Server, now time.Time, live bool) cell {
	if live && !s.Status.Stale && s.Status.ReadAt != nil {
		return say("fresh")
	}
	c := say(cmp.Or(printer.Age(s.Status.ReadAt, now), "-"))
	if s.Status.Stale {
		c.short, c.tone = c.text, printer.Bad
		c.text += " stale"
	}
	return c
}
