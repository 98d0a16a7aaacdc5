package kinds

import (
	"fmt"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
)

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
