package rack

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/agent"
	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// guarded is a bench whose agent knows a destructive key, of which it returns the
// private half, and lets two servers be forced off without it.
func guarded(t *testing.T, servers int) (*bench, ed25519.PrivateKey) {
	t.Helper()
	b := newBench(t, servers, bmcsim.Plain())
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	b.destructive = agent.Destructive{Keys: []ed25519.PublicKey{public}, BulkStop: 2, Window: 10 * time.Minute}
	return b, private
}

// approval is one for the bench's agent that counts now.
func (b *bench) approval(id string, class resource.ApprovalClass, targets ...string) resource.Approval {
	return resource.Approval{
		ID: id, Class: class, Rack: "rack-a", AgentKey: wire.NewSigner(b.key).Public(), Targets: targets, By: []string{"alice"},
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour),
	}
}

func (b *bench) approve(key ed25519.PrivateKey, a resource.Approval) {
	b.t.Helper()
	sealed, err := wire.Seal(wire.NewSigner(key), wire.FactApproval, a)
	if err != nil {
		b.t.Fatal(err)
	}
	b.approvals = append(b.approvals, sealed)
}

// forcedOff are the servers to which ForceOff was sent.
func (b *bench) forcedOff() (names []string) {
	for i, s := range b.servers {
		if slices.Contains(b.resets(i), "ForceOff") {
			names = append(names, s.Name)
		}
	}
	return names
}

// holdAll has a hard hold for every server sent at once, as a stolen hub would.
func (b *bench) holdAll(a *agent.Agent) {
	b.t.Helper()
	for i, s := range b.servers {
		b.holds = append(b.holds, resource.ActiveHold{ID: fmt.Sprintf("hold-%d", i+1), HoldSpec: resource.HoldSpec{Server: s.Name, Owner: "o", HoldTerms: resource.HoldTerms{Key: "k", Mode: resource.StopHard}}})
	}
	b.send(a)
}

// waiting are the servers whose stop waits for an approval.
func (b *bench) waiting() (names []string) {
	for i, s := range b.servers {
		if r, ok := b.report(i); ok && has(resource.CondApprovalNeeded)(r) {
			names = append(names, s.Name)
		}
	}
	return names
}

// TestBulkStopNeedsApproval: a hub that holds a whole rack at once gets as many servers
// forced off as the agent's own file says; the others are held and run until the
// destructive key has approved it. So it is after a restart, and for forged approvals.
func TestBulkStopNeedsApproval(t *testing.T) {
	t.Parallel()
	const servers = 5
	b, key := guarded(t, servers)
	for _, s := range b.servers {
		s.BMC.ExternalOn()
	}
	a, stop := b.start(nil)
	b.holdAll(a)
	split := func() bool { return len(b.forcedOff()) == 2 && len(b.waiting()) == servers-2 }
	b.eventually("two servers off and the others waiting", split)
	first := b.forcedOff()
	for i := range b.servers {
		b.until("the hold on disk", i, func(r resource.ServerReport) bool {
			return len(r.Holds) == 1 && r.Holds[0].Word != resource.HoldAccepted
		})
	}

	stop()
	a, _ = b.start(nil)
	b.send(a)
	b.eventually("the same after a restart", split)

	waiting := b.waiting()
	_, other, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		key    ed25519.PrivateKey
		change func(*resource.Approval)
	}{
		"the everyday key signs":  {b.hubKey, func(*resource.Approval) {}},
		"the agent's key signs":   {b.key, func(*resource.Approval) {}},
		"another key signs":       {other, func(*resource.Approval) {}},
		"for another rack":        {key, func(a *resource.Approval) { a.Rack = "rack-b" }},
		"for another agent":       {key, func(a *resource.Approval) { a.AgentKey = b.hub.Public() }},
		"for other targets":       {key, func(a *resource.Approval) { a.Targets = first }},
		"of another class":        {key, func(a *resource.Approval) { a.Class = resource.ApproveHoldOverride }},
		"whose time is over":      {key, func(a *resource.Approval) { a.NotBefore, a.NotAfter = a.NotBefore.Add(-time.Hour), time.Now() }},
		"whose time is to come":   {key, func(a *resource.Approval) { a.NotBefore = a.NotBefore.Add(10 * time.Minute) }},
		"that counts for a year":  {key, func(a *resource.Approval) { a.NotAfter = a.NotAfter.AddDate(1, 0, 0) }},
		"that names no target":    {key, func(a *resource.Approval) { a.Targets = nil }},
		"of a class of a new hub": {key, func(a *resource.Approval) { a.Class = "everything" }},
	} {
		b.approvals = nil
		b.send(a)
		b.eventually("the end of ApprovalRefused", func() bool { return !b.agentHas(resource.CondApprovalRefused) })
		forged := b.approval("forged", resource.ApproveBulkStop, waiting...)
		tt.change(&forged)
		forged.ID = strings.ReplaceAll(name, " ", "-") // one that was taken is not judged again
		b.approve(tt.key, forged)
		b.send(a)
		if name != "for other targets" && name != "of another class" {
			b.eventually("ApprovalRefused of one "+name, func() bool { return b.agentHas(resource.CondApprovalRefused) })
		}
		time.Sleep(2 * b.poll) // between looks: whatever it would do, it would do now
		if !split() {
			t.Errorf("an approval %s: %v forced off, %v wait", name, b.forcedOff(), b.waiting())
		}
	}

	b.approvals = nil
	b.approve(key, b.approval("approval-1", resource.ApproveBulkStop, waiting...))
	b.send(a)
	b.eventually("all servers off", func() bool { return len(b.forcedOff()) == servers })
	for i := range b.servers {
		b.until("the receipt", i, fenced)
	}
	b.eventually("the end of ApprovalRefused", func() bool { return !b.agentHas(resource.CondApprovalRefused) })

	// The same approval, played back for holds that are placed again, is spent.
	b.release(a)
	for i, s := range b.servers {
		b.until("the release", i, func(r resource.ServerReport) bool { return len(r.Holds) == 0 })
		s.BMC.ExternalOn()
		// Else it is one that ran under its hold, which is forced off in any case (P2).
		b.until("the server that runs", i, func(r resource.ServerReport) bool { return r.Observation.Power == protocol.PowerOn })
	}
	b.frees = nil
	for i, s := range b.servers {
		b.holds = append(b.holds, resource.ActiveHold{ID: fmt.Sprintf("again-%d", i+1), HoldSpec: resource.HoldSpec{Server: s.Name, Owner: "o", HoldTerms: resource.HoldTerms{Key: "k", Mode: resource.StopHard}}})
	}
	b.send(a)
	b.eventually("two of them off and the others waiting again", func() bool { return len(b.waiting()) == servers-2 })
}

// TestOverrideNeedsApproval: the release of a hold by somebody else than its owner, and
// without an approval, leaves it enforced; its owner's needs none.
func TestOverrideNeedsApproval(t *testing.T) {
	t.Parallel()
	b, key := guarded(t, 1)
	a, stop := b.start(nil)
	b.hold(a, "hold-1", resource.StopHard)
	b.until("the receipt", 0, fenced)

	withheld := func(r resource.ServerReport) bool {
		return len(r.Holds) == 1 && r.Holds[0].Withheld && fenced(r) && has(resource.CondReleaseNotApproved)(r)
	}
	release := func(id string) {
		b.holds = nil
		b.frees = []resource.Release{{HoldID: id, Server: b.servers[0].Name, By: "admin", At: time.Now(), Reason: "gone"}}
	}
	release("hold-1")
	b.approve(key, b.approval("approval-1", resource.ApproveHoldOverride, "hold-2"))
	b.send(a)
	b.until("the hold that is not released", 0, withheld)
	stop()
	a, _ = b.start(nil)
	b.send(a)
	b.until("the same after a restart", 0, withheld)

	b.approve(key, b.approval("approval-2", resource.ApproveHoldOverride, "hold-1"))
	b.send(a)
	b.until("the release", 0, func(r resource.ServerReport) bool { return len(r.Holds) == 0 })

	// A hold with the same id is another one: the approval was used.
	b.holds, b.frees = []resource.ActiveHold{{ID: "hold-1", HoldSpec: resource.HoldSpec{Server: b.servers[0].Name, Owner: "o", HoldTerms: resource.HoldTerms{Key: "k", Mode: resource.StopHard}}}}, nil
	b.send(a)
	b.until("the receipt", 0, fenced)
	release("hold-1")
	b.send(a)
	b.until("the hold that is not released again", 0, withheld)

	b.frees[0].By, b.frees[0].Reason = "o", ""
	b.send(a)
	b.until("the owner's release", 0, func(r resource.ServerReport) bool { return len(r.Holds) == 0 })
}

// TestWithoutDestructiveKey: an agent that knows none does what the everyday key signs.
func TestWithoutDestructiveKey(t *testing.T) {
	t.Parallel()
	b, _ := guarded(t, 4)
	b.destructive.Keys = nil
	for _, s := range b.servers {
		s.BMC.ExternalOn()
	}
	a, _ := b.start(nil)
	b.holdAll(a)
	for i := range b.servers {
		b.until("the receipt", i, fenced)
	}
	b.holds = nil
	for i, s := range b.servers {
		b.frees = append(b.frees, resource.Release{HoldID: fmt.Sprintf("hold-%d", i+1), Server: s.Name, By: "admin", At: time.Now(), Reason: "gone"})
	}
	b.send(a)
	for i := range b.servers {
		b.until("the release", i, func(r resource.ServerReport) bool { return len(r.Holds) == 0 })
	}
}
