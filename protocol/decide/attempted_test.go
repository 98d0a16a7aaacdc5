package decide

import (
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// What went wrong at a boot is so of a server as long as its owner has it: not of a server that is
// nobody's again, and not of the next owner, whose boots may go well. One that did not let the
// server go has it still; and where nothing is said of the server, what was so stays.
func TestConditionsEndWithTheirOwner(t *testing.T) {
	of := []resource.ConditionCode{resource.CondFirstBootFailed, resource.CondOverrideNotStored}
	next := func(s *Snapshot) {
		s.Intent.Owner = resource.Owner{Kind: resource.PurposeClaim, UID: "claim-2", Name: "next"}
	}
	for name, row := range map[string]struct {
		change func(y *play)
		want   bool
	}{
		"its owner": {func(*play) {}, true},
		"nobody": {func(y *play) {
			y.s.Intent = &message.ServerIntent{Server: y.s.Intent.Server, UID: y.s.Intent.UID}
			over(y)
		}, false},
		"another owner":              {func(y *play) { next(&y.s); over(y) }, false},
		"one that did not let it go": {func(y *play) { y.s.Intent = &message.ServerIntent{Server: y.s.Intent.Server, UID: y.s.Intent.UID} }, true},
		"nothing is said":            {func(y *play) { y.s.Intent = nil }, true},
	} {
		t.Run(name, func(t *testing.T) {
			y := story(t, nil)
			y.arms(protocol.BootDropped, disarmed(), disarmed())
			for _, code := range of {
				if !y.has(code) {
					t.Fatalf("the boot has not failed: %+v", y.p.Record.Conditions)
				}
			}
			row.change(y)
			y.read(protocol.PowerOff, 3*sec, nil) // before the next attempt
			for _, code := range of {
				if y.has(code) != row.want {
					t.Errorf("%s is %t: %+v", code, !row.want, y.p.Record.Conditions)
				}
			}
		})
	}
}

// over has the first owner let the server go.
func over(y *play) { y.s.Record.letsGo(resource.Owner{Kind: resource.PurposeClaim, UID: "claim-1"}) }
