package events

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// The table at recordOwn, for all events.
func TestOwnEntries(t *testing.T) {
	raw, err := os.ReadFile("record.go")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^//\t(\w+) +\| (\w+) +\| (\w+)`).FindAllStringSubmatch(string(raw), -1) {
		rows[m[1]] = m[2:]
	}
	delete(rows, "event")
	if len(rows) != 16 {
		t.Fatalf("%d rows: %v", len(rows), rows)
	}
	for _, code := range resource.EventCodes() {
		ev := api.EventRecord{Event: resource.Event{Code: code, Message: "by admin"}}
		row := rows[string(code)]
		switch {
		case row == nil, row[1] == "none":
		case row[1] == "Server":
			ev.Server = "n1"
		default:
			ev.Target = &resource.Target{Kind: resource.Kind(row[1]), Name: "b1"}
		}
		e, ok := ownEntry(ev)
		switch {
		case ok != (row != nil):
			t.Errorf("%s is noted: %t", code, ok)
		case !ok:
		case e.Op != row[0] || e.Caller != "hub" || !strings.HasSuffix(e.Detail, ev.Message) || e.Target != map[string]string{"none": "", "BMC": "BMC/b1", "Server": "Server/n1", "Maintenance": "Maintenance/b1", "ServerGroup": "ServerGroup/b1"}[row[1]]:
			t.Errorf("%s is noted as %+v", code, e)
		}
		delete(rows, string(code))
	}
	if len(rows) > 0 {
		t.Errorf("no such events: %v", rows)
	}
}
