package kinds

import (
	"fmt"
	"strings"
	"time"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
)

func holdColumns(h *resource.Hold, now time.Time) []cell {
	since, ttl := "", ""
	if r := h.Status.Receipt; r != nil {
		since = printer.Stamp(&r.StoppedSince)
	}
	if h.Spec.TTL != 0 {
		ttl = h.Spec.TTL.String() + " " + string(h.Spec.OnExpiry)
	}
	if h.Status.ExpiredAt != nil {
		ttl += ", expired"
	}
	return []cell{
		col("NAME", h.Metadata.Name),
		col("SERVER", h.Spec.Server),
		col("KEY", h.Spec.Key),
		col("OWNER", h.Spec.Owner),
		col("MODE", string(h.Spec.Mode)),
		holdCell(h.Status.State),
		col("READ", readCell(h.Status.ReadAt, h.Status.Stale, now)).aged(staleKey(h.Status.Stale)),
		col("AGE", printer.Age(h.Metadata.CreatedAt, now)).aged(""),
		col("REASON", h.Spec.Reason),
		wide("REF", h.Spec.Ref),
		wide("TTL", ttl),
		wide("ENFORCED", printer.Stamp(h.Status.EnforcedAt)),
		wide("STOPPED-SINCE", since),
		wide("LIMIT", string(h.Status.Limit)),
		wide("MESSAGE", h.Status.Message),
	}
}

// readCell is the age of the last recorded read.
func readCell(at *time.Time, stale bool, now time.Time) string {
	text := printer.Age(at, now)
	if stale {
		text = strings.TrimSpace(text + " stale")
	}
	return text
}

// staleKey says whether a read is too old, whatever its age is.
func staleKey(stale bool) string {
	if stale {
		return "stale"
	}
	return ""
}

func holdFacts(h *resource.Hold) []printer.Fact {
	st := h.Status
	out := []printer.Fact{{"Rack", st.Rack}, {"Soft timeout", h.Spec.SoftTimeout.String()}, {"Force during firmware", fmt.Sprint(h.Spec.ForceDuringFirmware)}, {"Expired", printer.Stamp(st.ExpiredAt)}}
	if st.Limit != "" {
		out = append(out, printer.Fact{"Limited", st.Limit.Words()})
	}
	if d := st.ConfirmedDown; d != nil {
		out = append(out, printer.Fact{"Confirmed down", fmt.Sprintf("by %s at %s: %s", d.By, printer.Stamp(&d.At), d.Reason)})
	}
	if st.ReleasedAt != nil {
		out = append(out, printer.Fact{"Released", fmt.Sprintf("by %s at %s", st.ReleasedBy, printer.Stamp(st.ReleasedAt))}, printer.Fact{"Release reason", st.ReleaseReason})
	}
	return out
}
