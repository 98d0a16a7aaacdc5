package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"rackboot/protocol"
)

// probeReport is a probe for people: what the server is, what would be written to
// boot it, what is missing and how to get it.
func probeReport(all []protocol.Probe) string {
	var b strings.Builder
	for i, p := range all {
		if i > 0 {
			b.WriteString("\n")
		}
		probeFacts(&b, p)
		probeBoot(&b, p)
		inventoryLists(&b, p.Inventory)
	}
	return strings.TrimRight(b.String(), "\n")
}

// lines writes rows in columns, under a heading.
func lines(w io.Writer, heading string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	if heading != "" {
		fmt.Fprintf(w, "\n%s:\n", heading)
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = dash(cell)
		}
		indent := "  "
		if heading == "" {
			indent = ""
		}
		fmt.Fprintln(tab, indent+strings.Join(row, "\t"))
	}
	_ = tab.Flush() // into memory, or where the printer's errors show
}

func probeFacts(w io.Writer, p protocol.Probe) {
	i := p.Inventory
	rows := [][]string{
		{"System:", i.SystemURI},
		{"Vendor, model, serial:", strings.Join([]string{dash(i.Vendor), dash(i.Model), dash(i.Serial)}, ", ")},
		{"Profile:", p.Profile},
		{"Firmware:", fmt.Sprintf("BMC %s, BIOS %s", dash(p.Firmware), dash(p.BIOS))},
		{"Login:", p.Login},
		{"Power:", p.Power},
		{"Resets:", strings.Join(p.Resets, ", ")},
	}
	lines(w, "", append(rows, inventoryFacts(i)...))
}

// inventoryFacts are what decides about a server, one per row.
func inventoryFacts(i protocol.Inventory) [][]string {
	uuid := i.UUID
	if i.UUIDProblem != "" {
		uuid = fmt.Sprintf("%s, which identifies nothing: %s", dash(i.UUID), i.UUIDProblem)
	}
	secure := "not known"
	if s := i.SecureBoot; s != nil {
		secure = map[bool]string{true: "on", false: "off"}[s.Enabled]
		if s.Enabled != s.Current {
			secure += " from the next boot"
		}
	}
	stop := reasoned(string(i.SafeStop.Class), i.SafeStop.Option, i.SafeStop.Reason)
	if r := i.SafeStop.Remedy; r != "" {
		stop += "; to raise it: " + r
	}
	return [][]string{
		{"UUID:", uuid},
		{"Architecture:", i.Architecture},
		{"Boot mode:", i.BootMode},
		{"Secure Boot:", secure},
		{"When mains power returns:", reasoned(string(i.Restore.Policy), i.Restore.Where, "")},
		{"Safe stop:", stop},
		{"Detection:", reasoned(string(i.Detection.Class), "every "+i.Detection.PollInterval.String(), i.Detection.Reason)},
	}
}

// reasoned is "what (particular): reason".
func reasoned(what, particular, reason string) string {
	s := dash(what)
	if particular != "" {
		s += " (" + particular + ")"
	}
	if reason != "" {
		s += ": " + reason
	}
	return s
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
	lines(w, "To boot by (target, possible, what would be written)", rows)

	rows = nil
	for _, h := range p.HTTP {
		state := "absent"
		if h.Present {
			state = map[bool]string{true: "ready", false: "to be switched on"}[h.Ready]
		}
		what := h.Why
		if len(h.Write) > 0 {
			what = fmt.Sprintf("write %s to %s; %s", pairs(h.Write), dash(h.Where), h.Why)
			if h.Reset != "" {
				what += "; then " + h.Reset
			}
		}
		rows = append(rows, []string{string(h.Way), state, strings.TrimSuffix(strings.TrimSpace(what), ";")})
	}
	lines(w, "URI of an HTTP boot by (first is used first)", rows)
	m := p.Media
	lines(w, "Virtual media", [][]string{{yesNo(m.Supported), strings.TrimSpace(m.Method + " " + m.Slot), m.Why}})
}

// inventoryLists are interfaces, boot options and what could not be read.
func inventoryLists(w io.Writer, i protocol.Inventory) {
	var rows [][]string
	for _, n := range i.Interfaces {
		rows = append(rows, []string{n.MAC, n.Name, strings.Join(n.Sources, ","), n.Internal})
	}
	lines(w, "Interfaces (MAC address, name, source, leads to the BMC)", rows)
	rows = nil
	for _, o := range i.BootOptions {
		name := o.Name
		if o.Disabled {
			name += " (disabled)"
		}
		rows = append(rows, []string{o.Reference, string(o.Kind), o.MAC, name})
	}
	lines(w, "Boot options, in order", rows)
	rows = nil
	for _, p := range i.Problems {
		rows = append(rows, []string{p.Part, string(p.Code), p.Text})
	}
	lines(w, "Not read", rows)
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
