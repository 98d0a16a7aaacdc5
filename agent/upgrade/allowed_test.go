package upgrade

import (
	"strings"
	"testing"

	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// facts are those of a server by its report, what is on disk of it, and its firmware mark.
func facts(s resource.ServerReport, state resource.AttemptState, work *resource.FirmwareWork) (f Facts) {
	var attempt *decide.Attempt
	if state != "" {
		attempt = &decide.Attempt{}
		attempt.Stage.State = state
	}
	s.Server = "n1"
	f.Add(s, attempt, work)
	return f
}

func held(word resource.HoldWord) resource.ServerReport {
	return resource.ServerReport{Holds: []resource.HoldReport{{ID: "01", Word: resource.HoldFenced}, {ID: "02", Word: word}}}
}

func TestAllowed(t *testing.T) {
	reported := func(state resource.AttemptState) resource.ServerReport {
		return resource.ServerReport{Attempt: &resource.AttemptReport{State: state}}
	}
	run := func(stage resource.FirmwareStage) resource.ServerReport {
		return resource.ServerReport{Firmware: &resource.FirmwareRun{Stage: stage}}
	}
	for name, row := range map[string]struct {
		facts Facts
		code  message.UpgradeCode
	}{
		"nothing is under way":       {Facts{}, ""},
		"guard mode":                 {Facts{Guard: "the agent is in guard mode"}, message.UpgradeWaitsGuard},
		"the rack changes hands":     {Facts{Handover: true}, message.UpgradeWaitsHandover},
		"the hub is away":            {Facts{Unheard: true}, message.UpgradeWaitsHub},
		"a hold that was accepted":   {facts(held(resource.HoldAccepted), "", nil), message.UpgradeWaitsHold},
		"a hold that is enforced":    {facts(held(resource.HoldEnforced), "", nil), message.UpgradeWaitsHold},
		"a hold that is fenced":      {facts(held(resource.HoldFenced), "", nil), ""},
		"a hold that is released":    {facts(held(resource.HoldReleased), "", nil), ""},
		"firmware work":              {facts(resource.ServerReport{}, "", &resource.FirmwareWork{}), message.UpgradeWaitsFirmware},
		"an attempt that begins":     {facts(resource.ServerReport{}, resource.AttemptPreparing, nil), message.UpgradeWaitsAttempt},
		"an attempt that is armed":   {facts(resource.ServerReport{}, resource.AttemptArmed, nil), message.UpgradeWaitsAttempt},
		"an On that is sent":         {facts(resource.ServerReport{}, resource.AttemptPowerRequested, nil), message.UpgradeWaitsAttempt},
		"an override that was taken": {facts(resource.ServerReport{}, resource.AttemptConsumed, nil), message.UpgradeWaitsAttempt},
		"an installation":            {facts(resource.ServerReport{}, resource.AttemptFetched, nil), message.UpgradeWaitsAttempt},
		"an attempt that ended well": {facts(resource.ServerReport{}, resource.AttemptSucceeded, nil), ""},
		"an attempt that failed":     {facts(resource.ServerReport{}, resource.AttemptFailed, nil), ""},
		"an attempt that is told of": {facts(reported(resource.AttemptArmed), "", nil), message.UpgradeWaitsAttempt},
		"one that ended, as is told": {facts(reported(resource.AttemptSucceeded), "", nil), ""},
		"settings are read":          {facts(run(resource.FirmwareReading), "", nil), message.UpgradeWaitsFirmware},
		"settings are checked":       {facts(run(resource.FirmwareChecking), "", nil), message.UpgradeWaitsFirmware},
		"settings are written":       {facts(run(resource.FirmwareSucceeded), "", nil), ""},
		"settings could not be":      {facts(run(resource.FirmwareFailed), "", nil), ""},
	} {
		if code, why := allowed(row.facts); code != row.code || (why == "") != (code == "") {
			t.Errorf("%s: %q, %q", name, code, why)
		}
	}
	for _, w := range resource.WaitCodes() {
		code, _ := allowed(facts(resource.ServerReport{Awaits: &resource.Wait{For: w}}, "", nil))
		want := message.UpgradeCode("")
		switch w {
		case resource.WaitShutdown, resource.WaitOff, resource.WaitPowerOn:
			want = message.UpgradeWaitsPower
		default: // of a hold or an attempt, which is seen by itself
		}
		if code != want {
			t.Errorf("%s: %q", w, code)
		}
	}
}

// TestOrderOfRules: of several the first is said, and each rule alone is.
func TestOrderOfRules(t *testing.T) {
	all := Facts{Guard: "x", Handover: true, Attempts: []string{"n1"}, Firmware: []string{"n1"}, Power: []string{"n1", "n2", "n3"}, Holds: []string{"n1"}, Unheard: true}
	clear := []func(*Facts){
		func(f *Facts) { f.Guard = "" }, func(f *Facts) { f.Handover = false }, func(f *Facts) { f.Holds = nil }, func(f *Facts) { f.Power = nil },
		func(f *Facts) { f.Firmware = nil }, func(f *Facts) { f.Attempts = nil }, func(f *Facts) { f.Unheard = false },
	}
	if len(clear) != len(rules) {
		t.Fatalf("%d rules", len(rules))
	}
	for i, r := range rules {
		if code, why := allowed(all); code != r.code || code == message.UpgradeWaitsPower && !strings.Contains(why, "n1") {
			t.Errorf("%s: %q, %q", r.name, code, why)
		}
		clear[i](&all)
	}
	if code, _ := allowed(all); code != "" {
		t.Errorf("%q", code)
	}
}
