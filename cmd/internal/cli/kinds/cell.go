package kinds

import (
	"strings"
	"time"

	"rackboot/cmd/internal/cli/condition"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
)

// cell is a column's name with what a resource has in it, and how that is drawn.
type cell struct {
	printer.Column
	text string
	tone printer.Tone
	// key changes when the cell says something else, and not when it is only older.
	key string
}

func col(name, text string) cell {
	return cell{Column: printer.Column{Name: name}, text: text, key: text}
}

// wide is a column that only -o wide shows.
func wide(name, text string) cell {
	return cell{Column: printer.Column{Name: name, Wide: true}, text: text, key: text}
}

// aged is a cell that says how long something is ago, of which key is what does not grow.
func (c cell) aged(key string) cell {
	c.key = key
	return c
}

// toned is a column whose states are drawn in colours.
func toned(name, text string, tone printer.Tone) cell {
	c := col(name, text)
	c.tone = tone
	return c
}

// phaseCell is where a server or its claim stands.
func phaseCell(p resource.Phase) cell {
	tone := printer.Plain
	switch p {
	case resource.PhaseError:
		tone = printer.Bad
	case resource.PhaseDiscovery, resource.PhaseMaintenance, resource.PhaseReleasing:
		tone = printer.Busy
	case resource.PhaseReserved:
		tone = printer.Good
	case resource.PhaseInitial, resource.PhaseAvailable:
	}
	return toned("PHASE", string(p), tone)
}

// holdCell is where a hold stands. Only a proof is good.
func holdCell(s resource.HoldState) cell {
	tone := printer.Busy
	switch s {
	case resource.StateFenced:
		tone = printer.Good
	case resource.StateViolated, resource.StateUnreachable, resource.StateStale:
		tone = printer.Bad
	case resource.StateAccepted, resource.StateEnforced, resource.StateStopping, resource.StateForcing, resource.StateConfirmed, resource.StateReleasing:
	}
	return toned("STATE", string(s), tone)
}

// conditionsCell are the codes of conditions, drawn as the worst of them.
func conditionsCell(all []resource.ConditionState, now time.Time) cell {
	tone := printer.Plain
	for _, c := range condition.Visible(all, now) {
		switch known, _ := resource.LookupCondition(c.Code); known.Severity {
		case resource.SeverityError:
			tone = printer.Bad
		case resource.SeverityWarning:
			tone = max(tone, printer.Busy)
		case resource.SeverityInfo:
		}
	}
	return toned("CONDITIONS", condition.Codes(all, now), tone)
}

// Labels are labels in one line.
func Labels(labels map[string]string) string {
	var out []string
	for _, k := range printer.SortedNames(labels) {
		out = append(out, k+"="+labels[k])
	}
	return strings.Join(out, ",")
}
