package site

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"rackboot/cmd/internal/cli/kinds"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// probeReport is a probe for people: what the server is, what would be written to
// boot it, what is missing and how to get it.
func probeReport(all []api.Probed) string {
	var b strings.Builder
	for i, p := range all {
		if i > 0 {
			b.WriteString("\n")
		}
		probeFacts(&b, p.Probe)
		probeBoot(&b, p.Probe)
		inventoryLists(&b, p.Inventory)
		probeVerdict(&b, p.Verdict)
	}
	return strings.TrimRight(b.String(), "\n")
}

func probeFacts(w io.Writer, p protocol.Probe) {
	i := p.Inventory
	rows := [][]string{
		{"System:", i.SystemURI},
		{"Vendor, model, serial:", strings.Join([]string{printer.Dash(i.Vendor), printer.Dash(i.Model), printer.Dash(i.Serial)}, ", ")},
		{"Profile:", p.Profile},
		{"Firmware:", fmt.Sprintf("BMC %s, BIOS %s", printer.Dash(p.Firmware), printer.Dash(p.BIOS))},
		{"Login:", p.Login},
		{"Power:", p.Power},
		{"Resets:", strings.Join(p.Resets, ", ")},
	}
	printer.Lines(w, "", append(rows, kinds.InventoryFacts(i)...))
}

func probeBoot(w io.Writer, p protocol.Probe) {
	var rows [][]string
	add := func(name string, plan protocol.BootPlan) {
		first := len(rows)
		for _, write := range plan.Writes {
			body, err := json.Marshal(write.Body)
			if err != nil {
				body = []byte(err.Error())
			}
			rows = append(rows, []string{name, yesNo(plan.Supported), "PATCH " + write.URI + " " + string(body)})
		}
		if plan.Why != "" || len(rows) == first {
			rows = append(rows, []string{name, yesNo(plan.Supported), orElse(plan.Why, "nothing to write")})
		}
		if plan.Remedy != "" {
			rows = append(rows, []string{name, yesNo(plan.Supported), "to get it: " + plan.Remedy})
		}
		for _, row := range rows[min(first+1, len(rows)):] {
			row[0], row[1] = " ", " "
		}
	}
	for _, plan := range p.Boot {
		add(string(plan.Target), plan)
	}
	add("disarm", p.Disarm)
	printer.Lines(w, "To boot by (target, possible, what would be written)", rows)

	rows = nil
	for _, h := range p.HTTP {
		state := "absent"
		if h.Present {
			state = map[bool]string{true: "ready", false: "to be switched on"}[h.Ready]
		}
		what := h.Why
		if len(h.Write) > 0 {
			what = fmt.Sprintf("write %s to %s; %s", pairs(h.Write), printer.Dash(h.Where), h.Why)
			if h.Reset != "" {
				what += "; then " + h.Reset
			}
		}
		rows = append(rows, []string{string(h.Way), state, strings.TrimSuffix(strings.TrimSpace(what), ";")})
	}
	printer.Lines(w, "URI of an HTTP boot by (first is used first)", rows)
	m := p.Media
	printer.Lines(w, "Virtual media", [][]string{{yesNo(m.Supported), strings.TrimSpace(m.Method + " " + m.Slot), m.Why}})
}

// probeVerdict is what it all comes to, at the end, where a terminal shows it.
func probeVerdict(w io.Writer, v resource.Verdict) {
	var rows [][]string
	for _, m := range v.Methods {
		rows = append(rows, []string{m.Words()})
		if m.Remedy != "" {
			rows = append(rows, []string{"  to get it: " + m.Remedy})
		}
	}
	rows = append(rows, []string{v.Hold.Words()}, []string{v.SafeStopWords()})
	printer.Lines(w, "Verdict: "+v.Ready.Words(), rows)
}

// inventoryLists are interfaces, boot options and what could not be read.
func inventoryLists(w io.Writer, i protocol.Inventory) {
	var rows [][]string
	for _, n := range i.Interfaces {
		rows = append(rows, []string{n.MAC, n.Name, strings.Join(n.Sources, ","), n.Internal})
	}
	printer.Lines(w, "Interfaces (MAC address, name, source, leads to the BMC)", rows)
	rows = nil
	for _, o := range i.BootOptions {
		name := o.Name
		if o.Disabled {
			name += " (disabled)"
		}
		rows = append(rows, []string{o.Reference, string(o.Kind), o.MAC, name})
	}
	printer.Lines(w, "Boot options, in order", rows)
	rows = nil
	for _, p := range i.Problems {
		rows = append(rows, []string{p.Part, string(p.Code), p.Text})
	}
	printer.Lines(w, "Not read", rows)
}

func pairs(m map[string]string) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, k+"="+m[k])
	}
	return strings.Join(out, ", ")
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
