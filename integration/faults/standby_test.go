package faults

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/agent/guard"
	agentstore "rackboot/agent/store"
	"rackboot/hub/store"
	"rackboot/integration/parallel"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
	"rackboot/state/statetest"
)

// pair is a site whose rack has an agent and one that stands by. What counts is what they do at BMCs.
type pair struct {
	*site
	first, second *agent
}

// twoHosts is a pair in which everything is in step: installed runs, unclaimed is held, claimed is Off.
func twoHosts(t *testing.T) *pair {
	t.Helper()
	s := newSite(t, seedOf(t), 1, newBroker)
	p := &pair{site: s, first: s.agents[0]}
	token, err := s.hub.control.Members.NewJoinToken(s.ctx, "r1", true)
	if err != nil {
		t.Fatal(err)
	}
	p.second = &agent{site: s, rack: "r1", signer: wire.NewSigner(key("the second host"))}
	answer, err := s.hub.control.Members.Join(s.ctx, api.JoinRequest{Token: token.Token, Key: p.second.signer.Public()})
	if err != nil || !answer.Standby {
		t.Fatalf("%+v, %v", answer, err)
	}
	p.second.name, p.second.standby = answer.Agent, answer.Term
	p.second.disk.Store(statetest.NewMemory())
	s.agents = append(s.agents, p.second)
	p.first.kill() // its file has no heartbeats yet
	for _, segment := range []string{"boot", "bmc"} {
		p.first.lines = append(p.first.lines, lineOf(segment, true))
		p.second.lines = append(p.second.lines, lineOf(segment, false))
	}
	p.first.start()
	p.second.start()
	hold := s.place(unclaimed, resource.StopHard)
	s.until("the hold fenced, and installed running", 10*time.Minute, func() bool {
		return p.word(hold) == resource.HoldFenced && s.machines[installed].state() == protocol.PowerOn
	})
	s.wait(2 * time.Minute)
	return p
}

func (p *pair) word(hold string) resource.HoldWord {
	h, err := store.Get[*resource.Hold](p.hub.store.Objects, hold)
	if err != nil {
		p.t.Fatal(err)
	}
	p.hub.control.Status.Decorate(h)
	return h.Status.Word
}

// says are the conditions of a server.
func (p *pair) says(server string) string {
	v, err := store.Get[*resource.Server](p.hub.store.Objects, server)
	if err != nil {
		p.t.Fatal(err)
	}
	p.hub.control.Status.Decorate(v)
	var all []string
	for _, c := range v.Status.Conditions {
		all = append(all, string(c.Code))
	}
	return strings.Join(all, " ")
}

func (p *pair) failover(off bool) error {
	_, err := p.hub.control.Members.Failover(p.ctx, "r1", api.FailoverRequest{Reason: "the first host burns", FirstHostOff: off}, "ann")
	return err
}

func (p *pair) settle() {
	p.t.Helper()
	if _, err := p.hub.control.Members.Settle(p.ctx, "r1", api.SettleRequest{LossAccepted: true, Reason: "burnt"}, "ann"); err != nil {
		p.t.Fatal(err)
	}
}

// heldHere are the holds on an agent's disk.
func heldHere(t *testing.T, a *agent) (ids []string) {
	t.Helper()
	_, lie := onDisk(t, a)
	return lie
}

// onDisk is the store of an agent that does not run, with the holds in it.
func onDisk(t *testing.T, a *agent) (s *agentstore.Store, holds []string) {
	t.Helper()
	s, err := agentstore.Open(agentstore.Config{DB: a.disk.Load(), NewID: a.site.newID})
	if err != nil {
		t.Fatal(err)
	}
	lie, _, err := s.Local.Holds()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range lie {
		holds = append(holds, h.ID)
	}
	return s, holds
}

// TestStandby: an agent that stands by has the hub's documents and touches nothing, whatever the rack's agent does; the
// failover is refused while nothing shows that this one is gone; then it serves the rack, proves anew what is held, leaves
// what runs, and switches nothing on until what was placed at the first host is settled. The first one, when it
// comes back, does nothing.
func TestStandby(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := twoHosts(t)
		defer func() { p.stop() }()
		second := p.second
		p.machines[unclaimed].button() // on, under its hold
		p.until("forced off by the first", time.Minute, func() bool { return p.machines[unclaimed].state() == protocol.PowerOff })
		p.wait(10 * time.Minute)
		if acts, looks := second.acts.Load(), second.looks.Load(); acts+looks != 0 {
			t.Fatalf("the standby acted %d times, and read %d times", acts, looks)
		}
		if err := p.failover(false); protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(protocol.HintOf(err), "--first-host-off") {
			t.Fatalf("while the first serves: %v", err)
		}
		p.first.kill()
		local := resource.ActiveHold{ID: "01local", HoldSpec: resource.HoldSpec{Server: claimed, Owner: "local:root", HoldTerms: resource.HoldTerms{Key: "hands-in-it", Mode: resource.StopHard}}}
		disk, _ := onDisk(t, p.first)
		if _, _, err := disk.Local.Hold(time.Now(), local); err != nil {
			t.Fatal(err)
		}
		ran, held := p.machines[installed].ons, p.live()[0]
		if err := p.failover(true); err != nil {
			t.Fatal(err)
		}
		if word := p.word(held); word == resource.HoldFenced {
			t.Error("what the first one proved is a proof yet")
		}
		p.until("the hold fenced by the second", 2*time.Minute, func() bool { return p.word(held) == resource.HoldFenced })
		p.claim(claimed)
		p.wait(20 * time.Minute)
		if state := p.machines[claimed].state(); state != protocol.PowerOff || p.machines[claimed].ons != 0 {
			t.Errorf("the server is %s that the first host holds", state)
		}
		if p.machines[installed].state() != protocol.PowerOn || p.machines[installed].ons != ran {
			t.Error("what ran does not run as it did")
		}
		if got := p.says(claimed); !strings.Contains(got, "TakenOver") {
			t.Errorf("it says %s", got)
		}
		p.machines[unclaimed].button()
		p.until("forced off by the second", time.Minute, func() bool { return p.machines[unclaimed].state() == protocol.PowerOff })

		// The first one comes back: at the word of the hub it does nothing any more, and keeps what it has.
		p.first.start()
		p.until("the first hears of its end", time.Minute, func() bool { return p.first.says(resource.CondSuperseded) })
		acts, looks := p.first.acts.Load(), p.first.looks.Load()
		p.machines[unclaimed].button()
		p.until("forced off by the second alone", time.Minute, func() bool { return p.machines[unclaimed].state() == protocol.PowerOff })
		p.wait(10 * time.Minute)
		if p.first.acts.Load() != acts || p.first.looks.Load() != looks {
			t.Error("the first one acts after its end")
		}
		p.first.kill()
		if got := strings.Join(heldHere(t, p.first), " "); !strings.Contains(got, "01local") {
			t.Errorf("on its disk is %s", got)
		}

		p.settle()
		p.until("the claim's server on", 10*time.Minute, func() bool { return p.machines[claimed].state() == protocol.PowerOn })
		if got := p.says(claimed); strings.Contains(got, "TakenOver") {
			t.Errorf("settled, it says %s", got)
		}
	})
}

// TestFailoverAtEachPoint kills hub or second agent at each of the points that a failover passes, and starts it again: the
// end is the same, and nothing is switched on before.
func TestFailoverAtEachPoint(t *testing.T) {
	for _, who := range []string{"hub", "agent"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			fuse, step := int64(1), int64(1)
			if parallel.Short() && who == "agent" {
				step = 4
			}
			for died := true; died && fuse < 30; fuse += step {
				synctest.Test(t, func(t *testing.T) {
					p := twoHosts(t)
					defer func() { p.stop() }()
					p.first.kill()
					p.claim(claimed)
					p.wait(time.Minute)
					ons := p.machines[claimed].ons
					if who == "hub" {
						p.hub.fuse.Store(fuse)
					} else {
						p.second.fuse.Store(fuse)
					}
					err := p.failover(true)
					p.wait(time.Minute)
					died = !p.hub.alive() || !p.second.alive()
					if !p.hub.alive() {
						p.hub.kill()
						p.hub.start()
						p.wait(time.Minute)
						if r, _ := store.Get[*resource.Rack](p.hub.store.Objects, "r1"); r.Status.Agent == p.first.name {
							if err = p.failover(true); err != nil {
								t.Fatalf("at %d: %v", fuse, err)
							}
						}
					} else if err != nil {
						t.Fatal(err)
					}
					if !p.second.alive() {
						p.second.kill()
						p.second.start()
					}
					p.second.fuse.Store(0)
					p.hub.fuse.Store(0)
					p.until("the hold fenced by the second", 5*time.Minute, func() bool { return p.word(p.live()[0]) == resource.HoldFenced })
					p.wait(5 * time.Minute)
					if p.machines[claimed].ons != ons {
						t.Errorf("at %d: it was switched on", fuse)
					}
				})
			}
			if fuse < 5 {
				t.Errorf("it passed %d points", fuse)
			}
			t.Logf("up to point %d", fuse)
		})
	}
}

// TestStandbySettledFromDisk: what was placed at the first host is taken over from its disk; then it holds as any hold does.
// A claim whose grant went to the first host before it failed may have been used there: it has to be made anew.
func TestStandbySettledFromDisk(t *testing.T) {
	for _, granted := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) { settledFromDisk(t, granted) })
	}
}

func settledFromDisk(t *testing.T, granted bool) {
	p := twoHosts(t)
	defer func() { p.stop() }()
	p.first.kill()
	disk, _ := onDisk(t, p.first)
	if _, _, err := disk.Local.Hold(time.Now(), resource.ActiveHold{ID: "01local", HoldSpec: resource.HoldSpec{Server: claimed, Owner: "local:root", HoldTerms: resource.HoldTerms{Key: "hands-in-it", Mode: resource.StopHard}}}); err != nil {
		t.Fatal(err)
	}
	if granted {
		p.claim(claimed)
		p.wait(time.Minute)
	}
	if err := p.failover(true); err != nil {
		t.Fatal(err)
	}
	if !granted {
		p.claim(claimed)
	}
	p.wait(time.Minute)
	holds, err := agentstore.LocalHolds(p.first.disk.Load(), guard.Set{})
	if err != nil || len(holds) != 1 {
		t.Fatalf("%+v, %v", holds, err)
	}
	sealed, err := wire.Seal(p.first.signer, wire.FactLocalHolds, message.LocalHolds{Agent: p.first.name, Rack: "r1", Term: 1, At: time.Now(), Holds: holds})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := p.hub.control.Members.Settle(p.ctx, "r1", api.SettleRequest{Holds: sealed}, "ann"); err != nil || len(out.Adopted) != 1 {
		t.Fatalf("%+v, %v", out, err)
	}
	p.until("the hold of the first host fenced", 5*time.Minute, func() bool { return p.word("01local") == resource.HoldFenced })
	p.wait(10 * time.Minute)
	if p.machines[claimed].ons != 0 || strings.Contains(p.says(claimed), "TakenOver") {
		t.Errorf("it came on %d times, and says %s", p.machines[claimed].ons, p.says(claimed))
	}
	if _, err := p.hub.store.Holds.Release(p.ctx, "01local", "ann", "no hands in it any more"); err != nil {
		t.Fatal(err)
	}
	if granted {
		p.until("that the grant is the first host's", time.Minute, func() bool { return strings.Contains(p.says(claimed), "GrantInvalid") })
		p.wait(10 * time.Minute)
		if p.machines[claimed].ons != 0 {
			t.Error("it came on with the grant of the first host")
		}
		p.claim(claimed) // which deletes it
		p.until("the claim gone", 10*time.Minute, func() bool { return p.hub.store.Claims.Of(claimed) == nil })
		p.claim(claimed)
	}
	p.until("the claim's server on", 10*time.Minute, func() bool { return p.machines[claimed].state() == protocol.PowerOn })
}

// TestFailoverWhilePartitioned walks through what may be cut, and who may be dead: without anybody's statement the failover is
// done only where the first agent does nothing any more, or is cut off from hub and segments alike.
func TestFailoverWhilePartitioned(t *testing.T) {
	for _, dead := range []bool{false, true} {
		for cuts := range 8 {
			hub, boot, bmc := cuts&1 > 0, cuts&2 > 0, cuts&4 > 0
			synctest.Test(t, func(t *testing.T) {
				p := twoHosts(t)
				defer func() { p.stop() }()
				if dead {
					p.first.kill()
				}
				if hub {
					p.net.cut(p.first.name)
				}
				p.beats.cut("boot", boot)
				p.beats.cut("bmc", bmc)
				p.wait(2 * time.Minute)
				err := p.failover(false)
				silent := (dead || hub) && (dead || boot && bmc)
				if silent != (err == nil) {
					t.Errorf("dead %t; cut from the hub %t, on boot %t, on bmc %t: %v", dead, hub, boot, bmc, err)
				}
				if err != nil && (protocol.CodeOf(err) != protocol.CodeConflict || protocol.HintOf(err) == "") {
					t.Errorf("refused with %v", err)
				}
				if err == nil || dead {
					return
				}
				acts := p.second.acts.Load()
				p.machines[unclaimed].button()
				p.wait(2 * time.Minute)
				if p.second.acts.Load() != acts {
					t.Error("both act")
				}
			})
		}
	}
}

// TestFailoverByBeats: the first host dies, both had heard each other: nobody has to state anything. An agent that was
// restarted says so again only once it was heard for long enough.
func TestFailoverByBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := twoHosts(t)
		defer func() { p.stop() }()
		p.second.kill()
		p.second.start()
		p.wait(20 * time.Second)
		p.first.kill()
		p.wait(2 * time.Minute)
		if err := p.failover(false); protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(protocol.HintOf(err), "--first-host-off") {
			t.Fatalf("they heard each other for a moment only: %v", err)
		}
		p.first.start()
		p.wait(3 * time.Minute)
		p.first.kill()
		p.wait(20 * time.Second)
		if err := p.failover(false); protocol.CodeOf(err) != protocol.CodeConflict {
			t.Fatalf("the hub has heard it a moment ago: %v", err)
		}
		p.net.cut(p.second.name)
		p.wait(time.Minute)
		for _, off := range []bool{false, true} {
			if err := p.failover(off); protocol.CodeOf(err) != protocol.CodeUnavailable {
				t.Fatalf("the hub hears neither: %v", err)
			}
		}
		p.net.heal(p.second.name)
		p.wait(time.Minute)
		if err := p.failover(false); err != nil {
			t.Fatal(err)
		}
		held := p.live()[0]
		p.until("the hold fenced by the second", 2*time.Minute, func() bool { return p.word(held) == resource.HoldFenced })
	})
}

// TestFirstHostComesBack: a host that was taken for dead by its heartbeats, and starts again by itself, has documents and a
// disk by which it would switch a server on that is held since. Its agent does nothing of that until the hub has answered,
// which tells it of its end, however long that takes.
func TestFirstHostComesBack(t *testing.T) {
	for name, cut := range map[string]bool{"with a way to the hub": false, "without one": true} {
		t.Run(name, func(t *testing.T) {
			for _, moment := range []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second} {
				synctest.Test(t, func(t *testing.T) {
					p := twoHosts(t)
					defer func() { p.stop() }()
					old := p.place(installed, resource.StopHard)
					p.until("the hold fenced", 5*time.Minute, func() bool { return p.word(old) == resource.HoldFenced })
					p.release(old)
					p.wait(moment) // it is about to switch it on again
					p.first.kill()
					p.wait(2 * time.Minute)
					if err := p.failover(false); err != nil {
						t.Fatal(err)
					}
					hold := p.place(installed, resource.StopHard)
					p.until("the new hold fenced by the second", 5*time.Minute, func() bool { return p.word(hold) == resource.HoldFenced })
					ons := p.machines[installed].ons
					if cut {
						p.net.cut(p.first.name)
					}
					p.first.start()
					if !cut {
						p.until("the first hears of its end", time.Minute, func() bool { return p.first.says(resource.CondSuperseded) })
					}
					p.wait(10 * time.Minute)
					if on := p.machines[installed].ons - ons; on != 0 || p.word(hold) != resource.HoldFenced {
						t.Errorf("killed after %s: a server that is held came on %d times; the hold is %s", moment, on, p.word(hold))
					}
				})
			}
		})
	}
}

// TestStandbyWithoutItsDisk: an agent that stands by, and whose disk is full or fails, touches nothing, held or not, and takes
// nothing over: it could not record that. One that took over and has no disk for a while goes on knowing what it does not know.
func TestStandbyWithoutItsDisk(t *testing.T) {
	for _, harm := range []string{"full", "broken"} {
		t.Run(harm, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := twoHosts(t)
				defer func() { p.stop() }()
				harms := func(so bool) {
					disk := p.second.disk.Load()
					disk.SetFull(so && harm == "full")
					disk.SetBroken(so && harm == "broken")
				}
				held := p.live()[0]
				harms(true)
				p.place(unclaimed, resource.StopHard) // a document that it cannot record
				p.until("guard mode", time.Minute, func() bool { return p.second.says(resource.CondGuardMode) })
				p.machines[unclaimed].button()
				p.until("forced off by the first", time.Minute, func() bool { return p.machines[unclaimed].state() == protocol.PowerOff })
				p.until("the hold fenced by the first", 5*time.Minute, func() bool { return p.word(held) == resource.HoldFenced })
				p.first.kill()
				p.machines[unclaimed].button()
				p.wait(10 * time.Minute)
				if acts, looks := p.second.acts.Load(), p.second.looks.Load(); acts+looks != 0 || p.machines[unclaimed].state() != protocol.PowerOn {
					t.Errorf("the standby acted %d times, and read %d times", acts, looks)
				}
				for _, off := range []bool{false, true} {
					if err := p.failover(off); protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(err.Error(), "guard mode") {
						t.Fatalf("it is to serve without its disk: %v", err)
					}
				}
				harms(false)
				p.until("the end of guard mode", time.Minute, func() bool { return !p.second.says(resource.CondGuardMode) })
				p.until("the failover", time.Minute, func() bool { return p.failover(true) == nil })
				p.until("the hold fenced by the second", 5*time.Minute, func() bool { return p.word(held) == resource.HoldFenced })

				p.claim(claimed)
				ons := p.machines[claimed].ons
				harms(true)
				p.until("guard mode again", time.Minute, func() bool { return p.second.says(resource.CondGuardMode) })
				p.wait(5 * time.Minute)
				harms(false)
				p.wait(20 * time.Minute)
				if p.machines[claimed].ons != ons || !strings.Contains(p.says(claimed), "TakenOver") {
					t.Errorf("a server that the first host may hold came on %d times; it says %s", p.machines[claimed].ons-ons, p.says(claimed))
				}
			})
		})
	}
}
