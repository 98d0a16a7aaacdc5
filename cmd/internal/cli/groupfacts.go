package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rackboot/protocol/resource"
)

// groupKindFacts are those of what groups boot from.
func groupKindFacts(obj resource.Object) []fact {
	switch o := obj.(type) {
	case *resource.ServerGroup:
		return groupFacts(o)
	case *resource.GroupRevision:
		return revisionFacts(o)
	case *resource.ManagedBootImages:
		out := []fact{{"Selector", "every group, for All"}}
		if s := o.Spec.Selector; s != nil {
			out[0].value = labelsText(s.MatchLabels)
		}
		for _, c := range sortedNames(o.Spec.Skew.Limits) {
			out = append(out, fact{"Limit " + c, o.Spec.Skew.Limits[c]})
		}
		for _, c := range sortedNames(o.Spec.Skew.Versions) {
			out = append(out, fact{"Said to be in use " + c, o.Spec.Skew.Versions[c]})
		}
		return out
	}
	return nil
}

func groupFacts(g *resource.ServerGroup) []fact {
	s, st := g.Spec, g.Status
	out := []fact{{"Selector", labelsText(s.Selector.MatchLabels)}, {"Own image", s.Image}, {"Managed by", s.ManagedBy}, {"Boot policy", policyText(s.BootPolicy)}, {"Strategy", string(s.Rollout.Strategy)}}
	if s.Stub != nil {
		out = append(out, fact{"User data", s.Stub.SecretRef.Name})
	}
	if e := st.Enrolment; e != nil {
		mode := string(e.Mode)
		if !e.Explicit {
			mode += ", as nobody has said"
		}
		out = append(out, fact{"Opt-in", mode}, fact{"Why", e.Message})
	}
	if c := st.Counts; c != nil {
		out = append(out, fact{"Servers", fmt.Sprintf("%d: %d boot the current revision, %d another, %d unknown", c.Servers, c.Current, c.Older, c.Unknown)})
	}
	if a := st.Adopted; a != nil {
		out = append(out, fact{"Adopted", a.Image + ", " + wordText(a.Confirmation)})
	}
	if p := st.Pinned; p != nil {
		out = append(out, fact{"Pinned", fmt.Sprintf("to revision %d, %s", p.Revision, wordText(p.Confirmation))})
	}
	for _, entry := range sortedNames(st.Rejected) {
		r := st.Rejected[entry]
		out = append(out, fact{"Rejected " + entry, fmt.Sprintf("after revision %d, %s", r.Revision, wordText(r.Confirmation))})
	}
	if h := st.HotLoop; h != nil && h.Held {
		out = append(out, fact{"Hot loop", fmt.Sprintf("applied %d times, changed by %s; %s", h.Count, dash(h.Writer), h.Value)})
	}
	out = append(out, fact{"Skew", st.Skew})
	if st.Rollout != nil {
		out = append(out, fact{"Roll-out", fmt.Sprintf("of revision %d, %s", st.Rollout.Revision, rolloutLine(rolloutReportOf(g)))})
	}
	return out
}

func revisionFacts(r *resource.GroupRevision) []fact {
	s, st := r.Spec, r.Status
	out := []fact{{"At", stamp(&s.At)}, {"Parent", number(s.Parent)}, {"Copy of", number(s.CopyOf)}, {"Entry digest", s.BootImageDigest}, {"Boot policy", policyText(s.BootPolicy)}}
	for _, arch := range slices.Sorted(maps.Keys(s.Images)) {
		out = append(out, fact{"Image " + arch, s.Images[arch].Reference + " " + s.Images[arch].Digest})
	}
	out = append(out, fact{"User data", stubName(s.Stub)}, fact{"User data from", stubName(s.OriginalStub)}, fact{"User data version", s.StubVersion})
	proof := "none: for canaries only then"
	if p := s.Stamp; p != nil {
		proof = fmt.Sprintf("by %s at %s, %s, hub %s", p.Server, stamp(&p.At), p.Evidence, p.HubVersion)
	}
	return append(out, fact{"Stamp", proof}, fact{"Result", string(st.Result)}, fact{"Message", st.Message}, fact{"Ended", stamp(st.EndedAt)},
		fact{"Booted", strconv.Itoa(st.Booted)}, fact{"Failed", strconv.Itoa(st.Failed)})
}

func policyText(p resource.BootPolicy) string {
	return fmt.Sprintf("first %s, then %s", dash(string(p.FirstBoot)), dash(string(p.Boot)))
}

func wordText(w resource.Confirmation) string {
	return fmt.Sprintf("by %s at %s: %s", w.By, stamp(&w.At), w.Reason)
}

func labelsText(labels map[string]string) string {
	var out []string
	for _, k := range sortedNames(labels) {
		out = append(out, k+"="+labels[k])
	}
	return strings.Join(out, ",")
}

// number is a number, or nothing for 0.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
