package agent

import (
	"slices"
	"testing"
	"time"

	"rackboot/agent/store"
	"rackboot/agent/upgrade"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// TestWhatARestartWaitsFor: what is on disk counts as well as what was reported, and an agent that stands by waits for nothing.
func TestWhatARestartWaitsFor(t *testing.T) {
	now := time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC)
	open := &decide.Attempt{}
	open.Stage.State = resource.AttemptArmed
	marked := func(until time.Time) store.Intent {
		return store.Intent{ServerIntent: message.ServerIntent{Server: "n1", Firmware: &resource.FirmwareWork{NotAfter: until}}}
	}
	hold := decide.Hold{}
	hold.ID, hold.Server = "01h", "n1"
	fenced := resource.ServerReport{Server: "n1", Holds: []resource.HoldReport{{ID: "01h", Word: resource.HoldFenced}}}
	for name, row := range map[string]struct {
		o       store.Overview
		reports []resource.ServerReport
		hub     time.Time
		want    upgrade.Facts
	}{
		"nothing":                        {store.Overview{Intents: []store.Intent{{ServerIntent: message.ServerIntent{Server: "n1"}}}}, nil, now, upgrade.Facts{}},
		"an attempt on disk":             {store.Overview{Records: []store.Standing{{Server: "n1", Attempt: open}}}, nil, now, upgrade.Facts{Attempts: []string{"n1"}}},
		"a hold without a report":        {store.Overview{Holds: []decide.Hold{hold}}, nil, now, upgrade.Facts{Holds: []string{"n1"}}},
		"a hold that is fenced":          {store.Overview{Holds: []decide.Hold{hold}}, []resource.ServerReport{fenced}, now, upgrade.Facts{}},
		"a hold that the report lacks":   {store.Overview{Holds: []decide.Hold{hold}}, []resource.ServerReport{{Server: "n1"}}, now, upgrade.Facts{Holds: []string{"n1"}}},
		"firmware work":                  {store.Overview{Intents: []store.Intent{marked(now.Add(time.Hour))}}, nil, now, upgrade.Facts{Firmware: []string{"n1"}}},
		"firmware work that is over":     {store.Overview{Intents: []store.Intent{marked(now.Add(-time.Hour))}}, nil, now, upgrade.Facts{}},
		"firmware work, without the hub": {store.Overview{Intents: []store.Intent{marked(now.Add(-time.Hour))}}, nil, time.Time{}, upgrade.Facts{Firmware: []string{"n1"}}},
		"two agents of one disk":         {store.Overview{Aside: true}, nil, now, upgrade.Facts{Handover: true}},
		"another agent has the rack":     {store.Overview{Replaced: true}, nil, now, upgrade.Facts{Handover: true}},
		"holds of the one before":        {store.Overview{Rack: message.RackIntent{TakenOver: []string{"r1-1"}}}, nil, now, upgrade.Facts{Handover: true}},
		"it stands by":                   {store.Overview{Standby: true, Holds: []decide.Hold{hold}, Records: []store.Standing{{Server: "n1", Attempt: open}}}, nil, now, upgrade.Facts{}},
	} {
		var f upgrade.Facts
		servers(&f, row.o, func(name string) (resource.ServerReport, resource.Phase, bool) {
			i := slices.IndexFunc(row.reports, func(s resource.ServerReport) bool { return s.Server == name })
			if i < 0 {
				return resource.ServerReport{}, "", false
			}
			return row.reports[i], "", true
		}, row.hub)
		if f.Handover != row.want.Handover || !slices.Equal(f.Attempts, row.want.Attempts) || !slices.Equal(f.Holds, row.want.Holds) || !slices.Equal(f.Firmware, row.want.Firmware) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
