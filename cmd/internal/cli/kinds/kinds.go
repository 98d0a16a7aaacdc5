package kinds

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
	"rackboot/protocol/table"
)

// kind is what is said of resources of a kind besides their columns. Some have no facts, and some no conditions.
type kind struct {
	facts      func(resource.Object) []printer.Fact
	conditions func(resource.Object) []resource.ConditionState
}

// described has a row for each kind of resource of which more is said than its columns.
func described() map[resource.Kind]kind {
	return map[resource.Kind]kind{
		resource.KindServer:            row(serverFacts, func(o *resource.Server) []resource.ConditionState { return o.Status.Conditions }),
		resource.KindClaim:             row(claimFacts, func(o *resource.Claim) []resource.ConditionState { return o.Status.Conditions }),
		resource.KindHold:              row(holdFacts, nil),
		resource.KindMaintenance:       row(maintenanceFacts, func(o *resource.Maintenance) []resource.ConditionState { return o.Status.Conditions }),
		resource.KindRack:              row(rackFacts, nil),
		resource.KindAgent:             row(agentFacts, func(o *resource.Agent) []resource.ConditionState { return o.Status.Conditions }),
		resource.KindBMC:               row(bmcFacts, func(o *resource.BMC) []resource.ConditionState { return o.Status.Conditions }),
		resource.KindSecret:            row(nil, func(o *resource.Secret) []resource.ConditionState { return o.Status.Conditions }),
		resource.KindBootConfiguration: row(nil, func(o *resource.BootConfiguration) []resource.ConditionState { return o.Status.Conditions }),
		resource.KindBootImage:         row(bootImageFacts, func(o *resource.BootImage) []resource.ConditionState { return o.Status.Conditions }),
		resource.KindServerGroup:       row(groupFacts, func(o *resource.ServerGroup) []resource.ConditionState { return o.Status.Conditions }),
		resource.KindGroupRevision:     row(revisionFacts, nil),
		resource.KindManagedBootImages: row(managedFacts, nil),
		resource.KindAgentUpgrade:      row(agentUpgradeFacts, func(o *resource.AgentUpgrade) []resource.ConditionState { return o.Status.Conditions }),
	}
}

// row makes a row of functions for one type of resource.
func row[T resource.Object](facts func(T) []printer.Fact, conditions func(T) []resource.ConditionState) (k kind) {
	if facts != nil {
		k.facts = func(o resource.Object) []printer.Fact { return facts(o.(T)) }
	}
	if conditions != nil {
		k.conditions = func(o resource.Object) []resource.ConditionState { return conditions(o.(T)) }
	}
	return k
}

// Table has a line for each resource, all of them of the kind.
func Table(of resource.Kind, objs []resource.Object, now time.Time) printer.View {
	return TableAt(of, objs, now, nil)
}

// TableAt is Table with the rack of each; rack is nil where that is not known.
func TableAt(of resource.Kind, objs []resource.Object, now time.Time, rack func(resource.Object) string) printer.View {
	shape := table.New(of, true, rack != nil)
	rows := make([]table.Row, len(objs))
	for i, o := range objs {
		at := ""
		if rack != nil {
			at = rack(o)
		}
		rows[i] = shape.Row(o, now, at)
	}
	v := Drawn(of, shape.Columns(), rows, now)
	for i, o := range objs {
		v.Items[i].Value = o
	}
	return v
}

// Drawn is a table of a kind that a hub, or this program, has made of its resources. Each row has a cell for each
// column. The items have no values.
func Drawn(of resource.Kind, columns []table.Column, rows []table.Row, now time.Time) (v printer.View) {
	for _, c := range columns {
		v.Columns = append(v.Columns, printer.Column{Name: printer.Dash(c.Name), Wide: c.Wide, Spare: spare(c.Name)})
	}
	for _, r := range rows {
		item := printer.Item{Name: strings.ToLower(string(of)) + "/" + r.Ref.Name}
		for i, c := range r.Cells {
			text := drawn(c, now)
			item.Cells, item.Tones, item.Keys = append(item.Cells, text), append(item.Tones, toneOf(c.Tone)), append(item.Keys, keyOf(columns[i], c, text))
		}
		v.Items = append(v.Items, item)
	}
	return v
}

// spare says which columns a screen without room for all goes without.
func spare(name string) bool {
	return slices.Contains([]string{"AGE", "READ", "FOUND-BY", "MODEL", "VENDOR", "POLL", "SETTLE", "SOFT-TIMEOUT", "OWNER", "MODE"}, name)
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
	k := described()[of]
	v = TableAt(of, []resource.Object{o}, now, rack)
	v.Single = true
	for i, c := range v.Columns {
		if c.Name != "CONDITIONS" {
			facts = append(facts, printer.Fact{strings.ToUpper(c.Name[:1]) + strings.ToLower(c.Name[1:]), v.Items[0].Cells[i]})
		}
	}
	m := o.Head().Metadata
	facts = append(facts, printer.Fact{"Labels", Labels(m.Labels)}, printer.Fact{"Uid", m.UID}, printer.Fact{"Generation", fmt.Sprint(m.Generation)},
		printer.Fact{"Created", printer.Stamp(m.CreatedAt)}, printer.Fact{"Deleted", printer.Stamp(m.DeletedAt)})
	if k.facts != nil {
		facts = append(facts, k.facts(o)...)
	}
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
	if k.conditions != nil {
		text += conditionText(k.conditions(o), now)
	}
	return v, facts, text
}

func conditionText(all []resource.ConditionState, now time.Time) string {
	shown := resource.VisibleConditions(all, now)
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
