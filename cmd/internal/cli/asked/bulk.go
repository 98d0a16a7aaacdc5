package asked

import (
	"fmt"
	"strconv"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/api"
)

// BulkView is a view of bulk operations.
func BulkView(all ...api.BulkStatus) printer.View {
	v := printer.View{Columns: printer.Columns("BULK ACTION STATE TOTAL DONE FAILED CREATED BY", "ENDED", "CANCELLED-BY")}
	for _, b := range all {
		v.Items = append(v.Items, printer.Item{Value: b, Name: "bulk/" + b.ID, Cells: []string{
			b.ID, string(b.Action), string(b.State), strconv.Itoa(b.Total), strconv.Itoa(b.Done), strconv.Itoa(b.Failed),
			printer.Stamp(&b.CreatedAt), b.By, printer.Stamp(b.EndedAt), b.CancelledBy,
		}})
	}
	return v
}

// BulkText is where a bulk operation stands.
func BulkText(b api.BulkStatus) string {
	text := fmt.Sprintf("%s, %d of %d done", b.State, b.Done, b.Total)
	if b.Failed > 0 {
		text += fmt.Sprintf(", %d failed", b.Failed)
	}
	return text
}

// BulkFacts are a bulk operation at length, failures first.
func BulkFacts(b api.BulkStatus) (facts []printer.Fact) {
	facts = []printer.Fact{{"Action", string(b.Action)}, {"State", BulkText(b)}, {"By", b.By}}
	if b.CancelledBy != "" {
		facts = append(facts, printer.Fact{"Cancelled by", b.CancelledBy})
	}
	for _, r := range b.Results {
		text := string(r.Outcome)
		if r.Code != "" {
			text += ": " + string(r.Code) + ": " + r.Message
		}
		if r.Hint != "" {
			text += "; " + r.Hint
		}
		facts = append(facts, printer.Fact{r.Name, text})
	}
	return facts
}
