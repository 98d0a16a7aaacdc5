package kinds

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/cli/rollout"
	"rackboot/protocol/resource"
)

func groupFacts(g *resource.ServerGroup) []printer.Fact {
	s, st := g.Spec, g.Status
	out := []printer.Fact{{"Selector", s.Selector.String()}, {"Own image", s.Image}, {"Managed by", s.ManagedBy}, {"Boot policy", policyText(s.BootPolicy)}, {"Strategy", string(s.Rollout.Strategy)}}
	if s.Stub != nil {
		out = append(out, printer.Fact{"User data", s.Stub.SecretRef.Name})
	}
	if e := st.Enrolment; e != nil {
		mode := string(e.Mode)
		if !e.Explicit {
			mode += ", as nobody has said"
		}
		out = append(out, printer.Fact{"Opt-in", mode}, printer.Fact{"Why", e.Message})
	}
	if c := st.Counts; c != nil {
		out = append(out, printer.Fact{"Servers", fmt.Sprintf("%d: %d boot the current revision, %d another, %d unknown", c.Servers, c.Current, c.Older, c.Unknown)})
	}
	if a := st.Adopted; a != nil {
		out = append(out, printer.Fact{"Adopted", a.Image + ", " + WordText(a.Confirmation)})
	}
	if p := st.Pinned; p != nil {
		out = append(out, printer.Fact{"Pinned", fmt.Sprintf("to revision %d, %s", p.Revision, WordText(p.Confirmation))})
	}
	for _, entry := range printer.SortedNames(st.Rejected) {
		r := st.Rejected[entry]
		out = append(out, printer.Fact{"Rejected " + entry, fmt.Sprintf("after revision %d, %s", r.Revision, WordText(r.Confirmation))})
	}
	if h := st.HotLoop; h != nil && h.Held {
		out = append(out, printer.Fact{"Hot loop", fmt.Sprintf("applied %d times, changed by %s; %s", h.Count, printer.Dash(h.Writer), h.Value)})
	}
	out = append(out, printer.Fact{"Skew", st.Skew})
	if st.Rollout != nil {
		out = append(out, printer.Fact{"Roll-out", fmt.Sprintf("of revision %d, %s", st.Rollout.Revision, rollout.Line(*st.Rollout))})
	}
	return out
}

func revisionFacts(r *resource.GroupRevision) []printer.Fact {
	s, st := r.Spec, r.Status
	out := []printer.Fact{{"At", printer.Stamp(&s.At)}, {"Parent", printer.Number(s.Parent)}, {"Copy of", printer.Number(s.CopyOf)}, {"Entry digest", s.BootImageDigest}, {"Boot policy", policyText(s.BootPolicy)}}
	for _, arch := range slices.Sorted(maps.Keys(s.Images)) {
		out = append(out, printer.Fact{"Image " + arch, s.Images[arch].Reference + " " + s.Images[arch].Digest})
	}
	out = append(out, printer.Fact{"User data", StubName(s.Stub)}, printer.Fact{"User data digest", StubDigest(s.Stub)}, printer.Fact{"User data from", StubName(s.OriginalStub)}, printer.Fact{"User data version", s.StubVersion})
	proof := "none: for canaries only then"
	if p := s.Stamp; p != nil {
		proof = fmt.Sprintf("by %s at %s, %s, hub %s", p.Server, printer.Stamp(&p.At), p.Evidence, p.HubVersion)
	}
	return append(out, printer.Fact{"Stamp", proof}, printer.Fact{"Result", string(st.Result)}, printer.Fact{"Message", st.Message}, printer.Fact{"Ended", printer.Stamp(st.EndedAt)},
		printer.Fact{"Booted", strconv.Itoa(st.Booted)}, printer.Fact{"Failed", strconv.Itoa(st.Failed)})
}

func policyText(p resource.BootPolicy) string {
	return fmt.Sprintf("first %s, then %s", printer.Dash(string(p.FirstBoot)), printer.Dash(string(p.Boot)))
}

// WordText is who said something, when and why.
func WordText(w resource.Confirmation) string {
	return fmt.Sprintf("by %s at %s: %s", w.By, printer.Stamp(&w.At), w.Reason)
}

// StubName is a version of user data; empty for none.
func StubName(r *resource.IgnitionRef) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("%s@%d", r.Secret, r.Version)
}

// StubDigest tells versions of user data apart by what they have; empty for none. It is an HMAC under a key of the
// hub, and says nothing else of that.
func StubDigest(r *resource.IgnitionRef) string {
	if r == nil {
		return ""
	}
	return r.Digest
}

// managedFacts are which groups are meant, and the versions that they are compared with.
func managedFacts(o *resource.ManagedBootImages) []printer.Fact {
	out := []printer.Fact{{"Selector", "every group, for All"}}
	if s := o.Spec.Selector; s != nil {
		out[0][1] = s.String()
	}
	for _, c := range printer.SortedNames(o.Spec.Skew.Limits) {
		out = append(out, printer.Fact{"Limit " + c, o.Spec.Skew.Limits[c]})
	}
	for _, c := range printer.SortedNames(o.Spec.Skew.Versions) {
		out = append(out, printer.Fact{"Said to be in use " + c, o.Spec.Skew.Versions[c]})
	}
	return out
}
