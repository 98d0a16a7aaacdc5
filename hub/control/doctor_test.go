package control

import (
	"strings"
	"testing"
	"time"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// finding is the text of the doctor's finding of a code; empty is that there is none.
func (b *bench) finding(code resource.ConditionCode) (out string, blocks bool) {
	for _, f := range b.control.Status.Doctor().Findings {
		if f.Code == code {
			return f.Target + ": " + f.Message, f.Blocks
		}
	}
	return "", false
}

func (b *bench) wantFinding(when string, code resource.ConditionCode, want string, blocks bool) {
	b.t.Helper()
	if got, is := b.finding(code); !strings.Contains(got, want) || (got == "") != (want == "") || is != blocks {
		b.t.Errorf("%s: %q, blocks %t, want %q", when, got, is, want)
	}
}

// A stamp that a hub of another version gave counts no more, also where the group does not
// wait for it, because its servers have booted the revision.
func TestDoctorVoidStamp(t *testing.T) {
	b, _, agent := groupSite(t, optIn(resource.OptInAll), entryOf("1.0"), workers())
	b.apply(fromWorkers("c1", "n1"))
	b.pass()
	b.proves(agent, "c1")
	b.soaks()
	b.reports(agent)
	b.wantFinding("stamped", resource.CondWaitingForStamp, "", false)
	if found := b.control.Status.Doctor().Findings; len(found) != 0 {
		t.Errorf("nothing is wrong: %+v", found)
	}
	b.version = "2.0"
	b.restart()
	b.wantFinding("nobody has looked", resource.CondImagesDeferred, "ServerGroup/workers: the hub has not looked at it", true)
	b.pass()
	b.wantFinding("looked", resource.CondImagesDeferred, "", false)
	b.wantFinding("another hub", resource.CondWaitingForStamp, "booted under version 1.0 of the hub, and this is 2.0", false)
}

// A silent agent is told of, and one that cannot do what is asked blocks.
func TestDoctorAgents(t *testing.T) {
	b, _, agent := groupSite(t)
	b.reports(agent)
	b.wantFinding("it reports", resource.CondDark, "", false)
	b.now = b.now.Add(time.Hour)
	b.wantFinding("silent", resource.CondDark, "Agent/"+agent+": what its servers boot now is not known", false)
	b.control.Link.Heed(agent, map[string][]message.Capability{"n1": {message.CapBootFiles}, "n2": {message.CapBootFiles}}, map[string][]string{"n2": {"onExpiry: release"}})
	b.wantFinding("too old", resource.CondAgentTooOld, "for 2 of its servers: does not heed onExpiry: release; lacks "+string(message.CapBootFiles), true)
}
