package kinds

import (
	"fmt"
	"strings"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
	"rackboot/protocol/table"
)

// serverFacts are what a description of a server has besides the columns.
func serverFacts(s *resource.Server) (out []printer.Fact) {
	if w := s.Status.Firmware; w != nil {
		out = append(out, printer.Fact{"Firmware work", fmt.Sprintf("%s, by %s since %s, until %s", w.Reason, w.By, printer.Stamp(&w.Since), printer.Stamp(&w.NotAfter))})
	}
	if is, by := s.ArchitectureBy(); is != "" {
		out = append(out, printer.Fact{"Architecture", fmt.Sprintf("%s (%s)", is, by)})
	}
	if s.Status.Report != nil {
		out = append(out, reportFacts(s, s.Status.Report)...)
	}
	return append(out, discoveryFacts(s)...)
}

// reportFacts are what its agent says of a server.
func reportFacts(s *resource.Server, r *resource.ServerReport) []printer.Fact {
	out := []printer.Fact{
		{"Identity", r.Identity},
		{"Accepted identity", s.Status.AcceptedIdentity},
		{"Identity changed", identityChange(r)},
		{"Power epoch", fmt.Sprint(r.PowerEpoch)},
		{"Last powered on", printer.Stamp(r.LastPoweredOn)},
		{"Reboot pending since", printer.Stamp(r.PendingRebootSince)},
		{"Read error", r.Observation.Error},
	}
	out = append(out, tpmFacts(r.TPM)...)
	out = append(out, safetyFacts(s)...)
	if t := r.Attempt; t != nil {
		out = append(out, printer.Fact{"Attempt since", printer.Stamp(&t.Since)}, printer.Fact{"Attempt evidence", evidenceOf(t)},
			printer.Fact{"Attempt secrets", string(t.Secrets)}, printer.Fact{"Attempt reason", t.Reason})
		if known, ok := resource.LookupAttempt(t.Code); ok {
			out = append(out, printer.Fact{"Attempt code", string(t.Code)}, printer.Fact{"Attempt hint", known.Title + ": " + known.Hint})
		}
		out = append(out, printer.Fact{"Boot URI", t.URI})
	}
	out = append(out, imageFacts(r.Image)...)
	for _, h := range r.Holds {
		state := string(h.State)
		if state == "" {
			state = string(h.Word)
		}
		out = append(out, printer.Fact{"Hold " + h.ID, state})
	}
	return out
}

// tpmFacts are what is known of a server's TPM.
func tpmFacts(t *resource.TPMReport) []printer.Fact {
	if t == nil {
		return nil
	}
	is := fmt.Sprintf("%s, %s, enrolled %s for Server %s", t.Endorsement, t.Origin, printer.Stamp(&t.At), t.ServerUID)
	if t.Void {
		is += ", of another board: it does not count"
	}
	out := []printer.Fact{{"TPM", is}, {"TPM enrolment", t.Enrolment}}
	if t.Other != nil {
		out = append(out, printer.Fact{"Other TPM", fmt.Sprintf("%s, offered %s", t.Other.Endorsement, printer.Stamp(&t.Other.At))})
	}
	return out
}

// identityChange is what a server shows otherwise than what it is known by.
func identityChange(r *resource.ServerReport) string {
	if r.IdentityChange == nil {
		return ""
	}
	return strings.Join(r.IdentityChange.Words(), "; ")
}

// evidenceOf is what a boot was seen to come to, with the class of that.
func evidenceOf(t *resource.AttemptReport) string {
	words := string(t.Evidence)
	if t.Class != "" {
		words += ", " + string(t.Class)
	}
	if t.Unattested != "" {
		words += " (not attested: " + t.Unattested + ")"
	}
	return words
}

// safetyFacts are what is known of a server that somebody else powers on.
func safetyFacts(s *resource.Server) []printer.Fact {
	out := []printer.Fact{
		{"Safe stop", reasoned(string(s.Status.SafeStop), "", s.Status.SafeStopReason)}, {"Detects", s.Status.Detects}, {"Restore policy", string(s.Status.Restore)},
	}
	if r := s.Status.Report; r != nil && r.Guard != nil {
		out = append(out, printer.Fact{"Restore policy by holds", r.Guard.Words()})
	}
	if r := s.Status.Report; r != nil && r.Safety != nil {
		out = append(out, printer.Fact{"Safe stop remedy", r.Safety.SafeStop.Remedy})
	}
	if r := s.Status.Report; r != nil && r.Unexpected != nil {
		u := r.Unexpected
		out = append(out, printer.Fact{"Unexpected power", fmt.Sprintf("%s at %s, shown by %s", u.To, printer.Stamp(&u.At), printer.Dash(string(u.By)))},
			printer.Fact{"Stands", reasoned(string(u.Stands), "", u.Why)})
	}
	return out
}

// discoveryFacts are what the hub keeps of a server's discoveries.
func discoveryFacts(s *resource.Server) (out []printer.Fact) {
	if d := s.Status.Discovery; d != nil {
		if d.AskedAt != nil {
			out = append(out, printer.Fact{"Discovery asked", fmt.Sprintf("by %s at %s", d.AskedBy, printer.Stamp(d.AskedAt))})
		}
		if d.FailedAt != nil {
			out = append(out, printer.Fact{"Discovery given up", printer.Stamp(d.FailedAt) + ": " + d.Reason})
		}
	}
	d := s.Status.Discovered
	if d == nil {
		return out
	}
	out = append(out, printer.Fact{"Discovered", fmt.Sprintf("%s by %s with %s", printer.Stamp(&d.At), printer.Dash(string(d.Method)), d.ImageDigest)}, printer.Fact{"Hardware", table.Hardware(d)})
	return append(out, hostFacts(d.Inventory)...)
}
