package control

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// twoAgents is a site whose rack has an agent and one that stands by, both in step.
func twoAgents(t *testing.T) (*bench, *modern, *modern) {
	t.Helper()
	b, first := modernSite(t)
	second := b.modern(b.joinStandby("r1"))
	second.connects()
	b.exchange(first, second)
	return b, first, second
}

// joinStandby makes an agent that stands by.
func (b *bench) joinStandby(rack string) string {
	b.t.Helper()
	token, err := b.control.Members.NewJoinToken(b.t.Context(), rack, true)
	if err != nil {
		b.t.Fatal(err)
	}
	r := b.rackOf(rack)
	term, _, err := b.control.Terms.Next(r)
	if err != nil {
		b.t.Fatal(err)
	}
	name := rack + "-" + string(rune('0'+term))
	answer, err := b.control.Members.Join(b.t.Context(), api.JoinRequest{Token: token.Token, Key: wire.NewSigner(key(name)).Public()})
	if err != nil || answer.Agent != name || !answer.Standby || answer.Term != term {
		b.t.Fatalf("joined as %+v, want %q: %v", answer, name, err)
	}
	return name
}

func (b *bench) rackOf(name string) *resource.Rack {
	b.t.Helper()
	r, err := store.Get[*resource.Rack](b.store.Objects, name)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// exchange has turns and agents come to an end.
func (b *bench) exchange(agents ...*modern) {
	b.t.Helper()
	for range 4 {
		b.pass()
		b.lane()
		for n := 0; len(b.sent) > 0; n++ {
			if n > 50 {
				b.t.Fatal("hub and agents never come to an end")
			}
			in := b.sent
			b.sent = nil
			for _, v := range in {
				for _, m := range agents {
					m.takes(v)
				}
			}
		}
	}
}

func (m *modern) rackDoc() (d message.RackDoc) {
	m.b.t.Helper()
	m.b.opens(m, "rack/0", &d)
	return d
}

func (b *bench) word(hold string) resource.HoldWord {
	b.t.Helper()
	h, err := store.Get[*resource.Hold](b.store.Objects, hold)
	if err != nil {
		b.t.Fatal(err)
	}
	b.control.Status.Decorate(h)
	return h.Status.Word
}

// TestStandbyDocuments: an agent that stands by gets documents of its own, with that it stands by, and without all
// that only the one which serves the rack may do. What it has makes nothing Enforced, and what it says of servers is
// nobody's word.
func TestStandbyDocuments(t *testing.T) {
	b, first, second := twoAgents(t)
	b.apply(storetest.Claim("c1", "n1"))
	b.exchange(first, second)
	h, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", "k", "n1"))
	if err != nil {
		t.Fatal(err)
	}
	id := h.Metadata.Name
	first.deaf = true
	b.exchange(first, second)
	if got := b.word(id); got != resource.HoldAccepted {
		t.Errorf("with the standby's acknowledgement alone the hold is %s", got)
	}
	first.deaf = false
	first.connects()
	b.exchange(first, second)
	if got := b.word(id); got != resource.HoldEnforced {
		t.Errorf("once the rack's agent has it the hold is %s", got)
	}
	d, r := second.holdDoc(), second.rackDoc()
	if !d.Standby || d.Term != 2 || len(d.Holds) != 1 || len(d.Releases)+len(d.Requests)+len(d.Approvals) != 0 {
		t.Errorf("its hold document: %+v", d)
	}
	if !r.Rack.Standby || r.Term != 2 || len(r.Servers) != 2 {
		t.Fatalf("its rack document: %+v, the other %+v", r, first.rackDoc())
	}
	if boot := r.Servers[0].Boot; boot == nil || len(boot.Image.Artefacts) == 0 || len(boot.Grant) > 0 || boot.GrantFor != "" {
		t.Errorf("it is to fetch, and not to boot: %+v", boot)
	}
	if r := first.rackDoc(); r.Rack.Standby || len(r.Servers[0].Boot.Grant) == 0 {
		t.Errorf("the document of the rack's agent: %+v", r.Rack)
	}
	second.reports(resource.ServerReport{Server: "n1", Power: protocol.PowerOn, Holds: []resource.HoldReport{{ID: id, Word: resource.HoldFenced}, {ID: "01foreign", Word: resource.HoldEnforced, Hold: &resource.ActiveHold{ID: "01foreign", HoldSpec: storetest.Hold("x", "y", "n1").Spec}}}})
	b.exchange(first, second)
	if got, _ := b.control.reports.Server("n1"); got != nil && got.Power == protocol.PowerOn {
		t.Errorf("a report of the standby counts: %+v", got)
	}
	if n := len(store.List[*resource.Hold](b.store.Objects)); n != 1 || b.word(id) != resource.HoldEnforced {
		t.Errorf("%d holds, the first is %s", n, b.word(id))
	}
	if _, _, ok := b.control.reports.Agent(second.name); !ok {
		t.Error("that it reports is not known")
	}
	if got := b.roleOf(first.name) + " " + b.roleOf(second.name); got != "active standby" {
		t.Errorf("roles %s", got)
	}
}

func (b *bench) roleOf(agent string) string {
	b.t.Helper()
	a, err := store.Get[*resource.Agent](b.store.Objects, agent)
	if err != nil {
		b.t.Fatal(err)
	}
	b.control.Status.Decorate(a)
	return string(a.Status.Role)
}

// TestStandbyRelease: a released hold leaves when the rack's agent has let it go, whatever the standby has; then it is
// in the standby's document no more.
func TestStandbyRelease(t *testing.T) {
	b, first, second := twoAgents(t)
	h, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", "k", "n1"))
	if err != nil {
		t.Fatal(err)
	}
	b.exchange(first, second)
	if _, err := b.store.Holds.Release(ctx(t), h.Metadata.Name, "o", ""); err != nil {
		t.Fatal(err)
	}
	first.deaf = true
	b.exchange(first, second)
	if n, d := len(store.List[*resource.Hold](b.store.Objects)), second.holdDoc(); n != 1 || len(d.Holds) != 1 {
		t.Errorf("%d holds, the standby has %+v", n, d.Holds)
	}
	first.deaf = false
	first.connects()
	b.exchange(first, second)
	if n, d := len(store.List[*resource.Hold](b.store.Objects)), second.holdDoc(); n != 0 || len(d.Holds) != 0 {
		t.Errorf("%d holds, the standby has %+v", n, d.Holds)
	}
}

// TestFailoverRefused: without anybody's statement nothing shows that the first agent is silent, and a standby that
// is silent takes nothing over.
func TestFailoverRefused(t *testing.T) {
	b, first, second := twoAgents(t)
	ask := func(off bool) error {
		_, err := b.control.Members.Failover(ctx(t), "r1", api.FailoverRequest{Reason: "x", FirstHostOff: off}, "ann")
		return err
	}
	if err := ask(true); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("the standby has not reported: %v", err)
	}
	first.reports(off("n1"))
	second.reports()
	if err := ask(false); protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(err.Error(), "was heard") || !strings.Contains(protocol.HintOf(err), "--first-host-off") {
		t.Errorf("the first is heard: %v", err)
	}
	b.now = b.now.Add(time.Minute)
	second.reports()
	if err := ask(false); protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(protocol.HintOf(err), "--first-host-off") {
		t.Errorf("the first is silent at the hub: %v", err)
	}
	second.guard, second.deaf = true, true // it could not record that it serves the rack
	second.connects()
	second.reports()
	if err := ask(true); protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(err.Error(), "guard mode") || protocol.HintOf(err) == "" {
		t.Errorf("the standby is in guard mode: %v", err)
	}
	second.guard, second.deaf = false, false
	second.connects()
	second.reports()
	if _, err := b.control.Members.Failover(ctx(t), "r1", api.FailoverRequest{FirstHostOff: true}, "ann"); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("without a reason: %v", err)
	}
	if r := b.rackOf("r1"); r.Status.Agent != first.name || r.Status.Standby != second.name || len(r.Status.TakenOver) != 0 {
		t.Errorf("something was changed: %+v", r.Status)
	}
	// Nobody else joins between the two.
	if _, err := b.control.Members.NewJoinToken(ctx(t), "r1", true); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("a second standby: %v", err)
	}
	if _, err := b.control.Members.ReplaceAgent(ctx(t), "r1", endFor("x"), "ann"); protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(protocol.HintOf(err), "failover") {
		t.Errorf("replaced while one stands by: %v", err)
	}
}

// TestFailover: the first agent's term is over and the second serves the rack, in one commit; documents say so, and
// that the holds of the first are not known, until somebody settles that.
func TestFailover(t *testing.T) {
	for _, point := range []string{"", "hub.failover.committed"} {
		t.Run("dies at "+point, func(t *testing.T) {
			b, first, second := twoAgents(t)
			b.apply(storetest.Claim("c1", "n1"))
			if _, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", "k", "n1")); err != nil {
				t.Fatal(err)
			}
			b.exchange(first, second)
			first.reports(off("n1"))
			second.reports()
			b.exchange(first, second)
			fail := func() {
				out, err := b.control.Members.Failover(ctx(t), "r1", api.FailoverRequest{Reason: "fire", FirstHostOff: true}, "ann")
				if err != nil || out != (api.FailoverAnswer{Rack: "r1", Agent: second.name, Before: first.name}) {
					t.Fatalf("%+v, %v", out, err)
				}
			}
			if point == "" {
				fail()
			} else {
				b.dies(point, fail)
			}
			if e, over := b.control.Terms.EndingOf(first.name); !over || e.Code != resource.CondSuperseded || e.By != "ann" || e.Reason != "fire" || e.Term != 1 {
				t.Errorf("the first one's term: %+v, %v", e, over)
			}
			r := b.rackOf("r1")
			if r.Status.Agent != second.name || r.Status.Term != 2 || r.Status.Standby != "" || len(r.Status.AgentKeys) != 2 ||
				len(r.Status.TakenOver) != 1 || r.Status.TakenOver[0].Agent != first.name || r.Status.TakenOver[0].By != "ann" {
				t.Fatalf("the rack: %+v", r.Status)
			}
			if got, _ := b.control.reports.Server("n1"); got != nil && got.Holds != nil {
				t.Errorf("what the first said counts: %+v", got)
			}
			second.connects()
			b.exchange(first, second)
			second.reports()
			b.exchange(first, second)
			d, rd := second.holdDoc(), second.rackDoc()
			if d.Standby || rd.Rack.Standby || len(d.Holds) != 1 || len(rd.Rack.TakenOver) != 1 || rd.Rack.TakenOver[0] != first.name {
				t.Errorf("documents: %+v, %+v", d, rd.Rack)
			}
			first.begins()
			b.sent = nil
			first.hello()
			if s := last[message.Sync](b, first.name, message.LeafSync); s.Refused != resource.CondSuperseded || len(s.Ended) == 0 {
				t.Errorf("the first is told %+v", s)
			}
			first.reports(resource.ServerReport{Server: "n1", Power: protocol.PowerOn})
			if got, _ := b.control.reports.Server("n1"); got != nil && got.Power == protocol.PowerOn {
				t.Error("the first is heeded")
			}
			b.sent = nil
			if _, err := b.control.Members.Settle(ctx(t), "r1", api.SettleRequest{LossAccepted: true}, "ann"); protocol.CodeOf(err) != protocol.CodeInvalid {
				t.Errorf("settled without a reason: %v", err)
			}
			out, err := b.control.Members.Settle(ctx(t), "r1", api.SettleRequest{LossAccepted: true, Reason: "burnt"}, "ann")
			if err != nil || len(out.Agents) != 1 || out.Agents[0] != first.name || b.happened(resource.EventSettled) != 1 {
				t.Errorf("%+v, %v", out, err)
			}
			b.exchange(second)
			if rd := second.rackDoc(); len(rd.Rack.TakenOver) != 0 {
				t.Errorf("settled, and the document: %+v", rd.Rack)
			}
			if _, err := b.control.Members.Settle(ctx(t), "r1", api.SettleRequest{LossAccepted: true, Reason: "burnt"}, "ann"); protocol.CodeOf(err) != protocol.CodeConflict {
				t.Errorf("settled twice: %v", err)
			}
			// The rack can have a standby again, and its names go on.
			if name := b.joinStandby("r1"); name != "r1-3" {
				t.Errorf("the next standby is %s", name)
			}
		})
	}
}

// TestStandbyJoinKilled: a hub that dies between the writes of a join has no standby, and can have one.
func TestStandbyJoinKilled(t *testing.T) {
	for _, point := range []string{"hub.join.term", "hub.join.agent"} {
		b, first := modernSite(t)
		token, err := b.control.Members.NewJoinToken(ctx(t), "r1", true)
		if err != nil {
			t.Fatal(err)
		}
		b.dies(point, func() {
			_, _ = b.control.Members.Join(ctx(t), api.JoinRequest{Token: token.Token, Key: wire.NewSigner(key("r1-2")).Public()})
		})
		if r := b.rackOf("r1"); r.Status.Agent != first.name || r.Status.Standby != "" || r.Status.Term != 1 {
			t.Errorf("%s: %+v", point, r.Status)
		}
		if name := b.joinStandby("r1"); name != "r1-3" {
			t.Errorf("%s: the standby is %s", point, name)
		}
	}
}

// TestStandbyGoes: one whose term is over, or that was deleted, stands by no more, and the rack's agent goes on.
func TestStandbyGoes(t *testing.T) {
	for name, end := range map[string]func(b *bench){
		"revoked": func(b *bench) { _, _ = b.control.Members.Revoke(ctx(b.t), "r1-2", endFor("x"), "ann") },
		"replaced": func(b *bench) {
			out, err := b.control.Members.ReplaceAgent(ctx(b.t), "r1", api.EndRequest{Reason: "x", Standby: true}, "ann")
			if err != nil || out.Agent != "r1-2" || !out.Token.Standby {
				b.t.Errorf("%+v, %v", out, err)
			}
		},
		"deleted": func(b *bench) { _, _ = b.store.Delete(ctx(b.t), resource.KindAgent, "r1-2") },
	} {
		t.Run(name, func(t *testing.T) {
			b, first, second := twoAgents(t)
			end(b)
			b.exchange(first, second)
			if r := b.rackOf("r1"); r.Status.Agent != first.name || r.Status.Standby != "" || !first.acked() {
				t.Errorf("%+v", r.Status)
			}
			if name := b.joinStandby("r1"); name != "r1-3" {
				t.Errorf("the next standby is %s", name)
			}
		})
	}
}

// TestNoStandby: a rack that is to have a standby says what is wrong with it.
func TestNoStandby(t *testing.T) {
	b, first := modernSite(t)
	r := storetest.Rack("r1")
	r.Spec.Standby = true
	b.apply(r)
	first.reports(off("n1"))
	if got := codesOf(b.agentConds(first.name)); !strings.Contains(got, "NoStandby") {
		t.Errorf("none joined: %s", got)
	}
	second := b.modern(b.joinStandby("r1"))
	second.connects()
	b.exchange(first, second)
	second.reports()
	if got := codesOf(b.agentConds(first.name)); strings.Contains(got, "NoStandby") {
		t.Errorf("one is there: %s", got)
	}
	second.guard, second.deaf = true, true
	second.connects()
	if got := b.agentConds(first.name); !strings.Contains(codesOf(got), "NoStandby") {
		t.Errorf("it is in guard mode: %+v", got)
	}
	second.guard, second.deaf = false, false
	second.connects()
	second.reports()
	b.now = b.now.Add(time.Minute)
	if got := codesOf(b.agentConds(first.name)); !strings.Contains(got, "NoStandby") {
		t.Errorf("it is silent: %s", got)
	}
}

// TestSettleFrom: the holds of the first agent are taken over from its own word, made after the failover; servers may be
// switched on once the second one has them, whatever arrives first.
func TestSettleFrom(t *testing.T) {
	b, first, second := twoAgents(t)
	first.reports(off("n1"))
	second.reports()
	word := func(agent string, as string, at time.Time, holds ...resource.ActiveHold) []byte {
		return seal(t, key(agent), wire.FactLocalHolds, message.LocalHolds{Agent: as, Rack: "r1", Term: 1, At: at, Holds: holds})
	}
	local := resource.ActiveHold{ID: "01local", HoldSpec: resource.HoldSpec{Server: "n1", Owner: "local:root", HoldTerms: resource.HoldTerms{Key: "hands", Mode: resource.StopHard}}}
	other := local
	other.ID, other.Server = "01other", "nowhere"
	if _, err := b.control.Members.Failover(ctx(t), "r1", api.FailoverRequest{Reason: "fire", FirstHostOff: true}, "ann"); err != nil {
		t.Fatal(err)
	}
	b.exchange(second)
	second.reports()
	settle := func(sealed []byte) (api.SettleAnswer, error) {
		return b.control.Members.Settle(ctx(t), "r1", api.SettleRequest{Holds: sealed}, "ann")
	}
	for name, row := range map[string]struct {
		sealed []byte
		code   protocol.Code
	}{
		"by another agent":    {word(second.name, first.name, b.now, local), protocol.CodeDenied},
		"of another agent":    {word(first.name, second.name, b.now, local), protocol.CodeDenied},
		"of before":           {word(first.name, first.name, b.now.Add(-time.Hour), local), protocol.CodeConflict},
		"no message":          {[]byte("holds"), protocol.CodeDenied},
		"another fact of its": {seal(t, key(first.name), wire.FactRenewal, message.LocalHolds{Agent: first.name, Rack: "r1", Term: 1, At: b.now}), protocol.CodeDenied},
	} {
		if _, err := settle(row.sealed); protocol.CodeOf(err) != row.code || protocol.HintOf(err) == "" {
			t.Errorf("%s: %v, hint %q", name, err, protocol.HintOf(err))
		}
	}
	good := word(first.name, first.name, b.now, local, other)
	b.dies("hub.settle.adopted", func() { _, _ = settle(good) })
	second.connects()
	b.exchange(second)
	second.deaf = true // else it is over with the acknowledgement
	out, err := settle(good)
	if err != nil || len(out.Adopted) != 1 || out.Adopted[0] != "01local" || out.Agents[0] != first.name {
		t.Fatalf("%+v, %v", out, err)
	}
	b.dies("hub.settle.committed", func() { _, _ = settle(good) }) // said again, it is the same
	if over := b.rackOf("r1").Status.TakenOver; len(over) != 1 || len(over[0].Adopted) != 1 {
		t.Errorf("%+v", over)
	}
	second.deaf = false
	second.connects()
	b.exchange(second)
	d, rd := second.holdDoc(), second.rackDoc()
	if len(d.Holds) != 1 || d.Holds[0].ID != "01local" || d.Holds[0].Owner != "local:root" || len(rd.Rack.TakenOver) != 0 || len(b.rackOf("r1").Status.TakenOver) != 0 {
		t.Errorf("%+v, %+v, %+v", d.Holds, rd.Rack, b.rackOf("r1").Status)
	}
}

// TestSettleWaitsForTheHold: as long as the rack's agent has not acknowledged the hold that was taken over, its rack
// document names the agent before.
func TestSettleWaitsForTheHold(t *testing.T) {
	b, first, second := twoAgents(t)
	first.reports(off("n1"))
	second.reports()
	if _, err := b.control.Members.Failover(ctx(t), "r1", api.FailoverRequest{Reason: "fire", FirstHostOff: true}, "ann"); err != nil {
		t.Fatal(err)
	}
	b.exchange(second)
	second.reports()
	second.deaf = true
	local := resource.ActiveHold{ID: "01local", HoldSpec: resource.HoldSpec{Server: "n1", Owner: "local:root", HoldTerms: resource.HoldTerms{Key: "hands", Mode: resource.StopHard}}}
	sealed := seal(t, key(first.name), wire.FactLocalHolds, message.LocalHolds{Agent: first.name, Rack: "r1", Term: 1, At: b.now, Holds: []resource.ActiveHold{local}})
	if _, err := b.control.Members.Settle(ctx(t), "r1", api.SettleRequest{Holds: sealed}, "ann"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		b.now = b.now.Add(time.Minute)
		b.exchange(second)
		if r := b.rackOf("r1"); len(r.Status.TakenOver) != 1 {
			t.Fatal("it is settled, and the rack's agent has no hold")
		}
	}
	second.deaf = false
	second.connects()
	b.exchange(second)
	if r := b.rackOf("r1"); len(r.Status.TakenOver) != 0 {
		t.Errorf("%+v", r.Status)
	}
}

// TestFailoverByBeats: without anybody's statement a failover is done where both have heard each other on the segments, the
// second one hears the first no more, and neither does the hub. Each agent is told of the other.
func TestFailoverByBeats(t *testing.T) {
	b, first, second := twoAgents(t)
	if one, two := first.rackDoc().Rack.Twin, second.rackDoc().Rack.Twin; one == nil || one.Agent != second.name || two == nil || two.Agent != first.name ||
		!bytes.Equal(two.Key, wire.NewSigner(key(first.name)).Public()) {
		t.Fatalf("they are told of %+v and %+v", one, two)
	}
	ask := func() error {
		_, err := b.control.Members.Failover(ctx(t), "r1", api.FailoverRequest{Reason: "x"}, "ann")
		return err
	}
	heard := func(ago time.Duration) []message.HeardBeat {
		return []message.HeardBeat{{Segment: "boot", For: time.Hour, Ago: ago}}
	}
	first.beats, second.beats = heard(0), heard(0)
	first.reports(off("n1"))
	second.reports()
	if err := ask(); protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(err.Error(), "was heard") {
		t.Errorf("both are heard by all: %v", err)
	}
	b.now = b.now.Add(time.Minute) // the hub does not hear the first any more
	second.reports()
	if err := ask(); protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(err.Error(), "it lives") {
		t.Errorf("the second hears it: %v", err)
	}
	second.beats = heard(time.Minute)
	second.reports()
	first.reports(off("n1")) // the segment is cut, and the hub hears both
	if err := ask(); protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(err.Error(), "was heard") {
		t.Errorf("the hub hears it: %v", err)
	}
	b.now = b.now.Add(time.Minute)
	second.beats = heard(2 * time.Minute)
	second.reports()
	if err := ask(); err != nil {
		t.Errorf("nobody hears it: %v", err)
	}
	if r := b.rackOf("r1"); r.Status.Agent != second.name || len(r.Status.TakenOver) != 1 {
		t.Errorf("%+v", r.Status)
	}
}
