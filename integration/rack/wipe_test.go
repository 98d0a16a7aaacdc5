package rack

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/agent"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// installs is how long the simulated image runs before it reports.
const installs = 200 * time.Millisecond

// wiping has a bench's agent know a destructive key, and its one server a maintenance that
// boots an environment.
func wiping(t *testing.T, b *bench, change func(*resource.EnvBundle)) (key ed25519.PrivateKey) {
	t.Helper()
	b.loaders = loaderFolder(t, true)
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	b.destructive = agent.Destructive{Keys: []ed25519.PublicKey{public}}
	bundle := b.debian(0, b.upload("probe.zip", installFiles()))
	shipped := shippedEnv(t, "decommission")
	bundle.BootEnv, bundle.Purpose, bundle.Owner = shipped.BootEnv, resource.PurposeMaintenance, "m1"
	bundle.Spec.Templates, bundle.Spec.Destructive = shipped.Spec.Templates, shipped.Spec.Destructive
	if change != nil {
		change(&bundle)
	}
	b.claimEnv(0, bundle)
	in := &b.intents[0]
	in.Owner.Name, in.Owner.UID, in.Owner.Kind, in.PowerCycle = "m1", "m-uid", resource.PurposeMaintenance, true
	in.Boot.Owner.Name, in.Boot.Owner.UID, in.Boot.Owner.Kind = in.Owner.Name, in.Owner.UID, in.Owner.Kind
	b.claimEnv(0, bundle) // sealed for its owner
	b.grant(0)
	return private
}

// boots is an approval of the boot that the server's document says.
func (b *bench) boots(id string, class resource.ApprovalClass) resource.Approval {
	in := b.intents[0]
	a := b.approval(id, class, in.Server)
	a.Boots = []resource.ApprovedBoot{{Server: in.Server, Owner: in.Owner.UID, BootEnv: in.Boot.Env.Name}}
	return a
}

// untouched says whether nothing was sent to the server that could start it.
func (b *bench) untouched() bool {
	n, d, _, _ := b.servers[0].Boots.Counts()
	return n+d == 0 && len(b.resets(0)) == 0
}

// TestWipeNeedsApproval: a hub whose everyday key was stolen has nothing wiped. Without an
// approval of this very boot the server is not powered on, whatever was forged; and an
// approval is for one boot.
func TestWipeNeedsApproval(t *testing.T) {
	t.Parallel()
	b := benchWithData(t, 1, installs)
	key := wiping(t, b, nil)
	a, stop := b.start(nil)
	b.send(a)
	waits := func(what string) {
		t.Helper()
		b.until(what, 0, has(resource.CondWipeNotApproved))
	}
	waits("WipeNotApproved")
	_, other, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for name, tt := range map[string]struct {
		key     ed25519.PrivateKey
		change  func(*resource.Approval)
		refused bool
	}{
		"the everyday key signs":     {b.hubKey, func(*resource.Approval) {}, true},
		"the agent's key signs":      {b.key, func(*resource.Approval) {}, true},
		"another key signs":          {other, func(*resource.Approval) {}, true},
		"for another rack":           {key, func(a *resource.Approval) { a.Rack = "rack-b" }, true},
		"for another agent":          {key, func(a *resource.Approval) { a.AgentKey = b.hub.Public() }, true},
		"whose time is over":         {key, func(a *resource.Approval) { a.NotBefore, a.NotAfter = a.NotBefore.Add(-time.Hour), time.Now() }, true},
		"whose time is to come":      {key, func(a *resource.Approval) { a.NotBefore = a.NotBefore.Add(10 * time.Minute) }, true},
		"that names no boot":         {key, func(a *resource.Approval) { a.Boots = nil }, true},
		"that names any environment": {key, func(a *resource.Approval) { a.Boots[0].BootEnv = "" }, true},
		"played back of another server": {key, func(a *resource.Approval) {
			a.Targets, a.Boots[0].Server = []string{"server-9"}, "server-9"
		}, false},
		"played back of another maintenance": {key, func(a *resource.Approval) { a.Boots[0].Owner = "m-before" }, false},
		"for another environment":            {key, func(a *resource.Approval) { a.Boots[0].BootEnv = "memtest" }, false},
		"for another image":                  {key, func(a *resource.Approval) { a.Boots[0].Image = "sha256:" + strings.Repeat("0", 64) }, false},
		"of another class":                   {key, func(a *resource.Approval) { a.Class = resource.ApproveReprovision }, false},
	} {
		n++
		b.approvals = nil
		b.send(a)
		b.eventually("the end of ApprovalRefused", func() bool { return !b.agentHas(resource.CondApprovalRefused) })
		forged := b.boots(fmt.Sprintf("forged-%d", n), resource.ApproveWipe)
		tt.change(&forged)
		b.approve(tt.key, forged)
		b.send(a)
		if tt.refused {
			b.eventually("ApprovalRefused of one "+name, func() bool { return b.agentHas(resource.CondApprovalRefused) })
		}
		time.Sleep(2 * b.poll) // between looks: whatever it would do, it would do now
		if waits("WipeNotApproved after an approval " + name); !b.untouched() {
			t.Fatalf("an approval %s: %v", name, b.resets(0))
		}
		if !tt.refused && b.agentHas(resource.CondApprovalRefused) {
			t.Errorf("an approval %s is good, and of no use: it was refused", name)
		}
	}

	b.approvals = nil
	b.approve(key, b.boots("approval-1", resource.ApproveWipe))
	b.send(a)
	off := func(r resource.ServerReport) bool {
		return r.Attempt != nil && r.Attempt.State == resource.AttemptSucceeded && r.Observation.Power == protocol.PowerOff
	}
	b.until("the report of the boot", 0, off)
	b.booted(0, 1, 0)

	// The same approval does not boot it a second time, also after a restart.
	stop()
	a, _ = b.start(nil)
	b.asks = []resource.Request{{ID: "again", Server: b.servers[0].Name, Action: resource.RequestReboot, Mode: resource.StopSoft, NotAfter: time.Now().Add(time.Minute)}}
	b.send(a)
	waits("the second boot waits")
	if n, _, _, _ := b.servers[0].Boots.Counts(); n != 1 {
		t.Errorf("%d boots by one approval", n)
	}
	b.approve(key, b.boots("approval-2", resource.ApproveWipe))
	b.send(a)
	b.until("the second boot", 0, func(r resource.ServerReport) bool {
		n, _, _, inst := b.servers[0].Boots.Counts()
		return n == 2 && inst == 2 && off(r)
	})
}

// TestWipeInDisguise: a hub that leaves out the mark of what discards disks has to leave
// out, too, what rackboot-probe asks for; that is never sent without an approval.
func TestWipeInDisguise(t *testing.T) {
	t.Parallel()
	t.Run("without the mark", func(t *testing.T) {
		t.Parallel()
		b := benchWithData(t, 1, installs)
		wiping(t, b, func(e *resource.EnvBundle) { e.Spec.Destructive = false })
		a, _ := b.start(nil)
		b.send(a)
		b.until("WipeNotApproved", 0, has(resource.CondWipeNotApproved))
		if !b.untouched() {
			t.Error(b.resets(0))
		}
	})
	t.Run("with user data", func(t *testing.T) {
		t.Parallel()
		b := benchWithData(t, 1, installs)
		wiping(t, b, nil)
		b.intents[0].Boot.Ignition, b.intents[0].Boot.Secrets = b.sealData(0, nil), resource.SecretsSegment
		a, _ := b.start(nil)
		b.send(a)
		b.until("WipeNotApproved", 0, func(r resource.ServerReport) bool { return has(resource.CondWipeNotApproved)(r) && r.ArtefactsLocal })
		if !b.untouched() {
			t.Error(b.resets(0))
		}
	})
	t.Run("from elsewhere", func(t *testing.T) {
		t.Parallel()
		b, _ := benchThatInstalls(t, 1)
		key := wiping(t, b, func(e *resource.EnvBundle) {
			e.Spec.Destructive = false
			e.Spec.Templates = slices.Clone(e.Spec.Templates)
			e.Spec.Templates[0].Path = "other"
		})
		b.files = t.TempDir()
		if err := os.WriteFile(filepath.Join(b.files, protocol.FileDiscard), []byte("all"), 0o600); err != nil {
			t.Fatal(err)
		}
		a, _ := b.start(nil)
		b.approve(key, b.boots("unused", resource.ApproveReprovision))
		b.send(a)
		b.until("a boot that is not known to wipe", 0, func(r resource.ServerReport) bool {
			return r.Attempt != nil && r.Attempt.State == resource.AttemptFetched
		})
		from := b.installer(0)
		for name, want := range map[string]int{protocol.FileDiscard: http.StatusNotFound, "other": http.StatusOK} {
			if status, _, got := b.get(http.MethodGet, "http://"+b.http.String()+"/"+name, from); status != want {
				t.Errorf("%s: %d %q", name, status, got)
			}
		}
	})
}

// TestWipeWithoutDestructiveKey: an agent that knows none does what the everyday key signs.
func TestWipeWithoutDestructiveKey(t *testing.T) {
	t.Parallel()
	b := benchWithData(t, 1, installs)
	wiping(t, b, nil)
	b.destructive.Keys = nil
	a, _ := b.start(nil)
	b.send(a)
	b.until("the report of the boot", 0, func(r resource.ServerReport) bool {
		return r.Attempt != nil && r.Attempt.State == resource.AttemptSucceeded
	})
}
