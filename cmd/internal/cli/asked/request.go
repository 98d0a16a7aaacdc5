package asked

import (
	"strconv"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// View is a view of requests.
func View(all ...api.RequestStatus) printer.View {
	v := printer.View{Columns: printer.Columns("REQUEST SERVER ACTION MODE OUTCOME NOT-AFTER REASON", "BY", "RACK", "ANY-PHASE", "REF")}
	for _, r := range all {
		v.Items = append(v.Items, printer.Item{Value: r, Name: "request/" + r.ID, Cells: []string{
			r.ID, r.Server, string(r.Action), string(r.Mode),
			string(r.Report.Outcome), printer.Stamp(&r.NotAfter), Reason(r), r.By, r.Rack, strconv.FormatBool(r.AnyPhase), r.Ref,
		}})
	}
	return v
}

// Reason is why a request is where it is.
func Reason(r api.RequestStatus) string {
	switch {
	case r.Report.Outcome != resource.OutcomePending:
		return r.Report.Reason
	case r.Cancelled != "" && r.Taken:
		return "taken back by " + r.Cancelled + "; its agent says whether that was in time"
	case r.Cancelled != "":
		return "taken back by " + r.Cancelled + ", on its way to the agent"
	case r.Taken:
		return "taken by the agent"
	}
	return "on its way to the agent"
}
