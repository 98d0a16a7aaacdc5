package kinds

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rackboot/cmd/internal/cli/condition"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
)

// kind is how resources of a kind are shown. Some have no facts besides their columns, and
// some no conditions.
type kind struct {
	columns    func(o resource.Object, now time.Time) []cell
	facts      func(resource.Object) []printer.Fact
	conditions func(resource.Object) []resource.ConditionState
}

// table has a row for each kind of resource. A new one is a row here, and a new column a
// line in its function.
func table() map[resource.Kind]kind {
	return map[resource.Kind]kind{
		resource.KindServer:            row(serverColumns, serverFacts, func(o *resource.Server) []resource.ConditionState { return o.Status.Conditions }),
		resource.KindClaim:             row(claimColumns, claimFacts, func(o *resource.Claim) []resource.ConditionState { return o.Status.Conditions }),
		resource.KindHold:              row(holdColumns, holdFacts, nil),
		resource.KindMaintenance:       row(maintenanceColumns, maintenanceFacts, func(o *resource.Maintenance) []resource.ConditionState { return o.Status.Conditions }),
		resource.KindRack:              row(rackColumns, rackFacts, nil),
		resource.KindAgent:             row(agentColumns, agentFacts, func(o *resource.Agent) []resource.ConditionState { return o.Status.Conditions }),
		resource.KindSegment:           row(segmentColumns, nil, nil),
		resource.KindBMC:               row(bmcColumns, bmcFacts, func(o *resource.BMC) []resource.ConditionState { return o.Status.Conditions }),
		resource.KindSecret:            row(secretColumns, nil, func(o *resource.Secret) []resource.ConditionState { return o.Status.Conditions }),
		resource.KindBootEnv:           row(bootEnvColumns, nil, nil),
		resource.KindTemplate:          row(templateColumns, nil, nil),
		resource.KindProfile:           row(profileColumns, nil, nil),
		resource.KindFirmwareProfile:   row(firmwareProfileColumns, nil, nil),
		resource.KindFreeze:            row(freezeColumns, nil, nil),
		resource.KindAgentUpgrade:      row(agentUpgradeColumns, agentUpgradeFacts, func(o *resource.AgentUpgrade) []resource.ConditionState { return o.Status.Conditions }),
		resource.KindParam:             row(paramColumns, nil, nil),
		resource.KindBootConfiguration: row(bootConfigurationColumns, nil, func(o *resource.BootConfiguration) []resource.ConditionState { return o.Status.Conditions }),
		resource.KindBootImage:         row(bootImageColumns, bootImageFacts, func(o *resource.BootImage) []resource.ConditionState { return o.Status.Conditions }),
		resource.KindServerGroup:       row(groupColumns, groupFacts, func(o *resource.ServerGroup) []resource.ConditionState { return o.Status.Conditions }),
		resource.KindGroupRevision:     row(revisionColumns, revisionFacts, nil),
		resource.KindManagedBootImages: row(managedColumns, managedFacts, nil),
	}
}

// row makes a row of functions for one type of resource.
func row[T resource.Object](columns func(T, time.Time) []cell, facts func(T) []printer.Fact, conditions func(T) []resource.ConditionState) kind {
	k := kind{
		columns:    func(o resource.Object, now time.Time) []cell { return columns(o.(T), now) },
		facts:      func(resource.Object) []printer.Fact { return nil },
		conditions: func(resource.Object) []resource.ConditionState { return nil },
	}
	if facts != nil {
		k.facts = func(o resource.Object) []printer.Fact { return facts(o.(T)) }
	}
	if conditions != nil {
		k.conditions = func(o resource.Object) []resource.ConditionState { return conditions(o.(T)) }
	}
	return k
}

// Racked says whether resources of the kind are in a rack that none of their fields names.
func Racked(of resource.Kind) bool {
	return slices.Contains([]resource.Kind{resource.KindServer, resource.KindClaim, resource.KindHold, resource.KindMaintenance, resource.KindBootConfiguration}, of)
}

// Table has a line for each resource, all of them of the kind.
func Table(of resource.Kind, objs []resource.Object, now time.Time) printer.View {
	return TableAt(of, objs, now, nil)
}

// TableAt is Table with the rack of each; rack is nil where that is not known.
func TableAt(of resource.Kind, objs []resource.Object, now time.Time, rack func(resource.Object) string) printer.View {
	var v printer.View
	for _, c := range cells(of, resource.NewObject(of), now, rack) { // the names are the same of all
		v.Columns = append(v.Columns, c.Column)
	}
	for _, o := range objs {
		item := printer.Item{Value: o, Name: strings.ToLower(string(of)) + "/" + o.Head().Metadata.Name}
		for _, c := range cells(of, o, now, rack) {
			item.Cells, item.Tones, item.Keys = append(item.Cells, c.text), append(item.Tones, c.tone), append(item.Keys, c.key)
		}
		v.Items = append(v.Items, item)
	}
	return v
}

// cells are those of the kind, with the age of the resource, which every table has, and its rack.
func cells(of resource.Kind, o resource.Object, now time.Time, rack func(resource.Object) string) []cell {
	out := table()[of].columns(o, now)
	if !slices.ContainsFunc(out, func(c cell) bool { return c.Name == "AGE" }) {
		at := slices.IndexFunc(out, func(c cell) bool { return c.Wide })
		if at < 0 {
			at = len(out)
		}
		out = slices.Insert(out, at, col("AGE", printer.Age(o.Head().Metadata.CreatedAt, now)).aged(""))
	}
	for i := range out {
		out[i].Spare = out[i].Spare || slices.Contains([]string{"AGE", "READ", "FOUND-BY", "MODEL", "VENDOR", "POLL", "SETTLE", "SOFT-TIMEOUT", "OWNER", "MODE"}, out[i].Name)
	}
	switch {
	case rack == nil || !Racked(of):
	case of == resource.KindServer:
		out = slices.Insert(out, 1, col("RACK", rack(o)))
	default:
		out = append(out, wide("RACK", rack(o)))
	}
	return out
}

// View is a view of one resource.
func View(of resource.Kind, o resource.Object) printer.View {
	v := Table(of, []resource.Object{o}, time.Now())
	v.Single = true
	return v
}

// Describe is a resource at length: all columns of the wide table, one per line, and what
// has none; then its inventory and conditions.
func Describe(of resource.Kind, o resource.Object, now time.Time, rack func(resource.Object) string) (v printer.View, facts []printer.Fact, text string) {
	k := table()[of]
	v = TableAt(of, []resource.Object{o}, now, rack)
	v.Single = true
	for _, c := range cells(of, o, now, rack) {
		if c.Name != "CONDITIONS" {
			facts = append(facts, printer.Fact{strings.ToUpper(c.Name[:1]) + strings.ToLower(c.Name[1:]), c.text})
		}
	}
	m := o.Head().Metadata
	facts = append(facts, printer.Fact{"Labels", Labels(m.Labels)}, printer.Fact{"Uid", m.UID}, printer.Fact{"Generation", fmt.Sprint(m.Generation)},
		printer.Fact{"Created", printer.Stamp(m.CreatedAt)}, printer.Fact{"Deleted", printer.Stamp(m.DeletedAt)})
	facts = append(facts, k.facts(o)...)
	// One line per name: a column and a fact may say the same.
	seen := map[string]bool{}
	facts = slices.DeleteFunc(facts, func(f printer.Fact) bool {
		twice := seen[f[0]]
		seen[f[0]] = true
		return twice
	})
	if b, ok := o.(*resource.BMC); ok {
		text = inventoryText(b)
	}
	return v, facts, text + conditionText(k.conditions(o), now)
}

func conditionText(all []resource.ConditionState, now time.Time) string {
	shown := condition.Visible(all, now)
	if len(shown) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Conditions:\n")
	for _, s := range shown {
		known, _ := resource.LookupCondition(s.Code)
		fmt.Fprintf(&b, "  %s (%s): %s, since %s\n", s.Code, printer.Dash(string(known.Severity)), printer.Dash(known.Title), printer.Dash(printer.Stamp(&s.Since)))
		if s.Message != "" {
			fmt.Fprintf(&b, "    %s\n", printer.Dash(s.Message))
		}
		if known.Hint != "" {
			fmt.Fprintf(&b, "    hint: %s\n", known.Hint)
		}
	}
	return b.String()
}
