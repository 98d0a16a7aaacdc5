package kinds

import (
	"fmt"
	"strings"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

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
	if o := a.Status.Order; o != nil {
		text := fmt.Sprintf("%s by %s, of %s", o.Kind, o.Upgrade, printer.Stamp(&o.At))
		if o.Stage != "" {
			text += ": " + o.Stage
		}
		if o.Code != "" {
			text += " (" + o.Code + ")"
		}
		if o.Message != "" {
			text += ", " + o.Message
		}
		out = append(out, printer.Fact{"Upgrade", text})
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
