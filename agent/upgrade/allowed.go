package upgrade

import (
	"fmt"

	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Facts are what the rack does that a restart of the agent would lose or delay. The lists are servers.
type Facts struct {
	Guard    string // why the agent guards, or could not after a restart; empty is not so
	Handover bool   // it is not settled which agent serves the rack, or what was held by the one before
	Attempts []string
	Firmware []string
	Power    []string
	Holds    []string // held, and not yet proved off
	Unheard  bool     // the hub is not heard
}

// Add notes what a server does, by its last report. attempt is the one on disk, which may be newer.
func (f *Facts) Add(s resource.ServerReport, attempt *decide.Attempt, work *resource.FirmwareWork) {
	reported := s.Attempt != nil && s.Attempt.State != resource.AttemptSucceeded && s.Attempt.State != resource.AttemptFailed
	if attempt.Open() || reported {
		f.Attempts = append(f.Attempts, s.Server)
	}
	if work != nil || s.Firmware != nil && !s.Firmware.Stage.Over() {
		f.Firmware = append(f.Firmware, s.Server)
	}
	if s.Awaits != nil {
		switch s.Awaits.For {
		case resource.WaitShutdown, resource.WaitOff, resource.WaitPowerOn:
			f.Power = append(f.Power, s.Server)
		case resource.WaitSettled, resource.WaitAgain, resource.WaitInrush, resource.WaitMedium, resource.WaitOverride, resource.WaitFirmware,
			resource.WaitDHCP, resource.WaitBootFile, resource.WaitMediaRead, resource.WaitReport: // of a hold or an attempt, or nothing is under way
		}
	}
	for _, h := range s.Holds {
		if h.Word == resource.HoldAccepted || h.Word == resource.HoldEnforced {
			f.Holds = append(f.Holds, s.Server)
			return
		}
	}
}

// rule is something that a restart waits for.
type rule struct {
	name string
	code message.UpgradeCode
	// why says it for people; empty where it is not so.
	why func(Facts) string
}

// rules are what a restart waits for. The first that is so is said.
var rules = []rule{
	{"the agent guards", message.UpgradeWaitsGuard, func(f Facts) string { return f.Guard }},
	{"the rack changes hands", message.UpgradeWaitsHandover, func(f Facts) string { return when(f.Handover, "the rack is given from one agent to another") }},
	{"a server is not yet proved off", message.UpgradeWaitsHold, func(f Facts) string { return servers(f.Holds, "is held, and not yet proved off") }},
	{"a power action", message.UpgradeWaitsPower, func(f Facts) string { return servers(f.Power, "is being switched on or off") }},
	{"firmware", message.UpgradeWaitsFirmware, func(f Facts) string { return servers(f.Firmware, "has firmware work under way") }},
	{"an attempt", message.UpgradeWaitsAttempt, func(f Facts) string { return servers(f.Attempts, "is in the middle of a boot that the agent began") }},
	{"the hub", message.UpgradeWaitsHub, func(f Facts) string { return when(f.Unheard, "the hub is not heard, and could not answer the release") }},
}

// allowed says what a restart waits for; an empty code is nothing.
func allowed(f Facts) (message.UpgradeCode, string) {
	for _, r := range rules {
		if why := r.why(f); why != "" {
			return r.code, why
		}
	}
	return "", ""
}

func when(so bool, why string) string {
	if so {
		return why
	}
	return ""
}

// servers says what is so of the first of some servers, and how many more there are.
func servers(names []string, what string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0] + " " + what
	}
	return fmt.Sprintf("%s %s, as are or have %d more", names[0], what, len(names)-1)
}
