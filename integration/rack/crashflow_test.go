//go:build !race

package rack

import (
	"crypto/ed25519"
	"time"

	"rackboot/agent"
	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol/resource"
)

// crashFlow is a way through the crash points. at begins the names of those at which
// it is killed; the others are another flow's.
type crashFlow struct {
	run func(*crashBench)
	at  string
	bmc string // the preset of its BMC; empty is one with two virtual drives
	// patient says that firmware asks for half a minute, and that nobody cuts its power before: whatever the
	// machine that runs the test has to do besides, the agent that is started again is there in time.
	patient bool
}

func crashFlows() map[string]crashFlow {
	return map[string]crashFlow{
		"claim and holds": {run: claimAndHolds}, "hold before On": {run: holdBeforeOn}, "local holds": {run: localHolds, at: "agent.local."},
		"approved release": {run: approvedRelease, at: "agent.approve."},
		"segments":         {run: changedSegments, at: "agent.segments."},
		"user data":        {run: userDataAndEnd, at: "agent.userdata."},
		"virtual media":    {run: mediaAndEnd, at: "agent.act"},
		"user data by it":  {run: mediaAndEnd, at: "agent.userdata.onmedium"},
		"uploaded file":    {run: envAndEnd, at: "agent.iso."},
		"boot environment": {run: envAndEnd, at: "agent.env."},
		"a URL in the BMC": {run: uriAndEnd, at: "agent.act", bmc: "SupermicroURI"},
	}
}

// claimAndHolds goes from a claim over a soft and a hard hold to the last release.
func claimAndHolds(b *crashBench) {
	b.claim(0)
	b.stage("claim", "booted")
	b.held("hold-1", resource.StopSoft)
	b.stage("soft hold", "fenced")
	b.stages[len(b.stages)-1].Rolled = true
	b.freed()
	b.stage("release", "booted")
	b.held("hold-2", resource.StopHard)
	b.stage("hard hold", "fenced")
	b.freed()
	b.stage("last release", "booted")
}

// holdBeforeOn is a hold on a server that is armed and refuses to power on.
func holdBeforeOn(b *crashBench) {
	b.servers[0].BMC.Inject(bmcsim.Fault{Method: "POST", Path: "ComputerSystem.Reset", Status: 409, Times: 1000})
	b.claim(0)
	b.stage("claim", "ordered")
	b.held("hold-1", resource.StopSoft)
	b.stage("hold", "fenced")
}

// approvedRelease is a hold that somebody else than its owner releases, by approval.
func approvedRelease(b *crashBench) {
	b.claim(0)
	b.stage("claim", "booted")
	b.held("hold-1", resource.StopHard)
	b.stage("hold", "fenced")
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	b.destructive = agent.Destructive{Keys: []ed25519.PublicKey{key.Public().(ed25519.PublicKey)}}
	b.freed()
	b.frees[0].By = "admin"
	b.approve(key, b.approval("approval-1", resource.ApproveHoldOverride, "hold-1"))
	b.stage("release", "booted")
}

// changedSegments goes over a change that loses the hub, and one that does not.
func changedSegments(b *crashBench) {
	b.trial = 2 * time.Second
	host := func(h string) {
		b.change = func(s *resource.SegmentIntent) { s.BaseURL = "https://" + h }
	}
	stage := func(name, until, host string) {
		b.stage(name, until)
		b.stages[len(b.stages)-1].Host = host
	}
	host("127.0.0.1")
	stage("segment", "confirmed", "127.0.0.1")
	host("127.0.0.2")
	stage("lost", "rolled back", "127.0.0.1")
	b.stages[len(b.stages)-1].Silent = true
	host("127.0.0.3")
	stage("corrected", "confirmed", "127.0.0.3")
}

// mediaAndEnd is a claim that boots by virtual media, with user data in the config image,
// a hold and the end of the claim.
func mediaAndEnd(b *crashBench) {
	b.trusted = true
	b.byMedia(0)
	b.intents[0].Boot.Ignition, b.intents[0].Boot.Secrets = b.sealData(0, nil), resource.SecretsSegment
	b.stage("claim", "booted")
	in := &b.intents[0]
	in.Boot, in.Power, in.Releasing = nil, resource.WantOff, true
	b.stage("end", "let go")
}

// userDataAndEnd is a claim with user data, and its end.
func userDataAndEnd(b *crashBench) {
	b.claim(0)
	b.intents[0].Boot.Ignition, b.intents[0].Boot.Secrets = b.sealData(0, nil), resource.SecretsSegment
	b.stage("claim", "booted")
	in := &b.intents[0]
	in.Boot, in.Power, in.Releasing = nil, resource.WantOff, true
	b.stage("end", "let go")
}

// uriAndEnd is a claim that boots by a URL in the BMC, and its end.
func uriAndEnd(b *crashBench) {
	b.claim(0)
	b.intents[0].Boot.Reach = resource.ReachURI
	b.stage("claim", "booted")
	in := &b.intents[0]
	in.Boot, in.Power, in.Releasing = nil, resource.WantOff, true
	b.stage("end", "let go")
}

// envAndEnd is a claim for a boot environment out of an uploaded file, and its end.
func envAndEnd(b *crashBench) {
	iso := b.upload("demo.zip", map[string]string{"EFI/Linux.efi": "MZ a unified kernel image"})
	bundle := b.debian(0, iso)
	bundle.Spec.OS.SupportedArchitectures = map[string]resource.EnvArch{"amd64": {IsoFile: iso.File, UKI: "EFI/Linux.efi"}}
	b.claimEnv(0, bundle)
	b.stage("claim", "booted")
	in := &b.intents[0]
	in.Boot, in.Power, in.Releasing = nil, resource.WantOff, true
	b.stage("end", "let go")
}
