package decide

import (
	"fmt"
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func TestCountTable(t *testing.T) {
	var codes []string
	for _, f := range resource.AttemptFailures() {
		codes = append(codes, string(f.Code))
	}
	doctable.Of(t, "fallback.go", "countRule").Hold(t, [][]string{codes, doctable.YesNo()}, func(in []string) []string {
		if countRule(resource.AttemptCode(in[0]), in[1] == "yes") {
			return []string{"yes"}
		}
		return []string{"no"}
	})
}

// newer is a server whose claim boots from the network, with a new image that was sent
// while it is off, and the one before to return to.
type newer struct {
	*play
	raw    message.ServerIntent
	grants map[uint64]message.Grant
	at     time.Duration
	boots  int
}

func newNewer(t *testing.T, after int) *newer {
	n := &newer{play: story(t, nil), grants: map[uint64]message.Grant{}}
	n.raw = *n.s.Intent
	before := *n.raw.Boot
	before.BootPolicy.Boot = resource.BootNetwork
	before.Image.Reference, before.Image.Digest = "old", "sha256:old"
	boot := before
	boot.Generation++
	boot.Image.Reference, boot.Image.Digest = "new", "sha256:new"
	boot.Fallback = &message.BootFallback{After: after, GrantedBoot: resource.GrantedBoot{Generation: before.Generation, BootSpec: resource.BootSpec{Image: before.Image, BootPolicy: before.BootPolicy}}}
	n.raw.Boot = &boot
	for _, b := range []message.BootIntent{before, boot} {
		g := *n.s.Grant
		g.Generation, g.ImageDigest, g.Repeat = b.Generation, b.Image.Digest, true
		n.grants[b.Generation] = g
	}
	// The image before ran, and its server was stopped by an order.
	n.s.Record.Owners.Used = map[string]GrantUse{grantKey(&before): {Repeat: true, Ran: true}}
	return n
}

// reads is one read, as the shell gives it: with what is in force.
func (n *newer) reads(p protocol.PowerState, later time.Duration, r *Result, e ...Event) {
	n.at += later
	in := InForce(n.raw, &n.s.Record)
	g := n.grants[in.Boot.Generation]
	n.s.Intent, n.s.Grant = &in, &g
	n.s.NewID, n.s.NewToken, n.s.Events = fmt.Sprintf("id-%d", n.boots), fmt.Sprintf("token-%d", n.boots), e
	n.read(p, n.at, r)
}

// boot begins with the server Off and ends with the image's last file sent; it says
// which image that is, empty if none is booted.
func (n *newer) boot() string {
	n.t.Helper()
	n.boots++
	for range 200 {
		n.reads(protocol.PowerOff, 10*sec, nil)
		if n.p.Action.Kind == ActArm {
			break
		}
	}
	if n.p.Action.Kind != ActArm {
		return ""
	}
	n.reads(protocol.PowerOff, sec, n.answered(""))
	n.want(ActOn)
	n.reads(protocol.PowerOn, 5*sec, n.answered(""))
	token := n.p.Record.Attempt.Token
	n.reads(protocol.PowerOn, 5*sec, nil, Event{Begun: true, Token: token, At: at(n.at + 5*sec)},
		Event{Kind: protocol.EvidenceFetched, File: "boot.efi", Token: token, At: at(n.at + 5*sec)})
	if a := n.p.Record.Attempt; a.Stage.State != resource.AttemptFetched {
		n.t.Fatalf("%s: %s", a.Stage.State, a.Stage.Ending.Reason)
	}
	return n.p.Record.Attempt.Order.Digest
}

// stopped answers the forced stop that a counted failure asks for.
func (n *newer) stopped() {
	n.t.Helper()
	for range 20 {
		if n.p.Action.Kind == ActForceOff {
			n.reads(protocol.PowerOff, 5*sec, n.answered(""))
			return
		}
		n.reads(protocol.PowerOn, 5*sec, nil)
	}
	n.t.Fatalf("it is left running: %s, %v", n.p.Record.Attempt.Stage.Ending.Reason, n.p.Record.Conditions)
}

// TestFallback: a new image fails at each boot, in each way in which one can. After the
// last that is allowed the server boots the one before, without a word from the hub.
func TestFallback(t *testing.T) {
	for name, fail := range map[string]func(*newer){
		"nobody reports": func(n *newer) { n.reads(protocol.PowerOn, installTimeout+sec, nil); n.stopped() },
		"the image says that it failed": func(n *newer) {
			n.reads(protocol.PowerOn, 5*sec, nil, Event{Kind: protocol.EvidenceFailed, Token: n.p.Record.Attempt.Token, At: at(n.at + 5*sec), Message: "no disk"})
			n.stopped()
		},
		"it goes off": func(n *newer) { n.reads(protocol.PowerOff, time.Minute, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			const after = 4 // more than the grant has attempts
			n := newNewer(t, after)
			for i := range after {
				if got := n.boot(); got != "sha256:new" {
					t.Fatalf("boot %d is of %q: %v", i+1, got, n.p.Record.Conditions)
				}
				fail(n)
			}
			n.condition(resource.CondFellBack)
			if r := n.p.Record.Owners.Fallback.Report(); r.Failed != after || r.Since == nil || r.Generation != n.raw.Boot.Generation {
				t.Errorf("reported: %+v", r)
			}
			n.restart()
			if got := n.boot(); got != "sha256:old" {
				t.Fatalf("then %q is booted: %v", got, n.p.Record.Conditions)
			}
			n.reads(protocol.PowerOn, 5*sec, nil, Event{Kind: protocol.EvidenceBooted, Token: n.p.Record.Attempt.Token, At: at(n.at + 5*sec)})
			n.condition(resource.CondFellBack) // until there is another configuration
			if p := n.p.Record.Owners.Provisioned; p == nil || p.ImageDigest != "sha256:old" {
				t.Errorf("provisioned %+v", p)
			}
			next := *n.raw.Boot
			next.Generation, next.Fallback = next.Generation+1, nil
			n.raw.Boot = &next
			n.reads(protocol.PowerOn, 5*sec, nil)
			n.lacks(resource.CondFellBack)
		})
	}
}

// TestFallbackCounts: a boot that ends well ends the count, and so does a newer
// configuration; without a fallback nothing is booted again by itself.
func TestFallbackCounts(t *testing.T) {
	n := newNewer(t, 2)
	gone := func() { n.reads(protocol.PowerOff, time.Minute, nil) }
	n.boot()
	gone()
	n.boot()
	n.reads(protocol.PowerOn, 5*sec, nil, Event{Kind: protocol.EvidenceBooted, Token: n.p.Record.Attempt.Token, At: at(n.at + 5*sec)})
	if n.p.Record.Owners.Fallback != nil {
		t.Errorf("it was booted well, and %+v is counted", n.p.Record.Owners.Fallback)
	}
	n = newNewer(t, 2)
	n.boot()
	gone()
	next := *n.raw.Boot
	next.Generation, next.Fallback = next.Generation+1, nil
	g := n.grants[n.raw.Boot.Generation]
	g.Generation = next.Generation
	n.raw.Boot, n.grants[next.Generation] = &next, g
	if got := n.boot(); got != "sha256:new" || n.p.Record.Owners.Fallback != nil {
		t.Errorf("%q is booted, %+v is counted", got, n.p.Record.Owners.Fallback)
	}
	gone()
	if got := n.boot(); got != "" {
		t.Errorf("without a fallback %q is booted again by itself", got)
	}
}
