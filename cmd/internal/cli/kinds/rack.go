package kinds

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

func rackColumns(o *resource.Rack, now time.Time) []cell {
	term := ""
	if o.Status.Term > 0 {
		term = strconv.FormatUint(o.Status.Term, 10)
	}
	return []cell{
		col("NAME", o.Metadata.Name),
		col("AGENT", o.Status.Agent),
		col("TERM", term),
		col("STANDBY", o.Status.Standby),
		col("SOFT-TIMEOUT", o.Spec.SoftTimeout.String()),
		col("SETTLE", o.Spec.SettleWindow.String()),
		col("POLL", o.Spec.PollInterval.String()),
		wide("DESCRIPTION", o.Spec.Description),
	}
}

func agentColumns(o *resource.Agent, now time.Time) []cell {
	return []cell{
		col("NAME", o.Metadata.Name),
		col("RACK", o.Spec.RackRef.Name),
		col("ROLE", string(o.Status.Role)),
		col("TERM", strconv.FormatUint(o.Spec.Term, 10)),
		col("VERSION", o.Status.Version),
		col("REPORT-AGE", printer.Age(o.Status.LastReport, now)).aged(""),
		conditionsCell(o.Status.Conditions, now),
		wide("INCARNATION", o.Status.Incarnation),
		wide("METRICS", o.Status.Metrics),
	}
}

func segmentColumns(o *resource.Segment, now time.Time) []cell {
	scan, prefixes := "", ""
	if b := o.Spec.BMCs; b != nil {
		scan, prefixes = strings.Join(b.Scan, ","), strings.Join(b.MACPrefixes, ",")
	}
	return []cell{
		col("NAME", o.Metadata.Name),
		col("RACK", o.Spec.RackRef.Name),
		col("ROLE", string(o.Spec.Role)),
		col("PREFIX", o.Spec.Prefix),
		col("POOL", o.Spec.Pool.From+"-"+o.Spec.Pool.To),
		col("ADDRESS", o.Spec.Address),
		wide("BASE-URL", o.Spec.BaseURL),
		wide("LEASE", o.Spec.LeaseTime.String()),
		wide("SCAN", scan),
		wide("MAC-PREFIXES", prefixes),
	}
}

// rackFacts say what the rack's agent wants approvals for.
func rackFacts(r *resource.Rack) []printer.Fact {
	return []printer.Fact{{"Destructive key", destructiveFact(r.Status.Approvals)}}
}

// agentFacts say which agents of one disk were heard.
func agentFacts(a *resource.Agent) (out []printer.Fact) {
	for _, r := range a.Status.Runs {
		text := r.Run
		if r.Kept {
			text += ", which goes on"
		}
		if r.Host != "" {
			text += ", on " + r.Host
		}
		if len(r.Addresses) > 0 {
			text += " (" + strings.Join(r.Addresses, ", ") + ")"
		}
		if r.Version != "" {
			text += ", version " + r.Version
		}
		text += fmt.Sprintf(", heard from %s to %s", printer.Stamp(&r.First), printer.Stamp(&r.Last))
		if r.Self == "" {
			text += ", has not said yet that it stands aside"
		}
		out = append(out, printer.Fact{"Run", text})
	}
	return out
}

// destructiveFact says what a rack's agent wants approvals for.
func destructiveFact(s *resource.ApprovalStance) string {
	switch {
	case s == nil:
		return ""
	case len(s.Keys) == 0:
		return "none: the hub's everyday key suffices for everything"
	}
	var ids []string
	for _, k := range s.Keys {
		ids = append(ids, fmt.Sprintf("%x", wire.KeyID(k)))
	}
	bound := "bulk stops are not bounded"
	if s.BulkStop > 0 {
		bound = fmt.Sprintf("%d servers in %s may be forced off without an approval", s.BulkStop, s.Window)
	}
	return strings.Join(ids, ", ") + "; " + bound
}
