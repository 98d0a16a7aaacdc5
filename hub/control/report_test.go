package control

import (
	"slices"
	"testing"
	"time"

	"rackboot/hub/requests"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

func (b *bench) records(subject string) int {
	b.t.Helper()
	r, err := b.store.Log.Read(ctx(b.t), subject, 1, 100)
	if err != nil {
		b.t.Fatal(err)
	}
	return len(r)
}

func off(server string) resource.ServerReport {
	return resource.ServerReport{Server: server, ReadAge: time.Millisecond, Observation: protocol.Observation{Power: protocol.PowerOff}}
}

// Order by the broker is not trusted (P10): within a session the number decides, and of a
// session that is not the present one nothing is taken.
func TestReportOrder(t *testing.T) {
	b, agent := joined(t)
	say := func(session string, seq uint64, at time.Duration, power protocol.PowerState) {
		r := off("n1")
		r.Observation.Power = power
		b.says(agent, message.LeafReport, message.Report{Session: session, Seq: seq, At: b.now.Add(at), Servers: []resource.ServerReport{r}})
	}
	for _, c := range []struct {
		name    string
		session string
		seq     uint64
		at      time.Duration
		taken   bool
	}{
		{"no session yet", "a", 5, 0, false},
		{"first", "a", 5, 0, true},
		{"the same again", "a", 5, 0, false},
		{"overtaken", "a", 4, 0, false},
		{"next, and the agent's clock went back", "a", 6, -time.Hour, true},
		{"a new session", "b", 1, time.Second, true},
		{"the session before played back", "a", 900, time.Minute, false},
	} {
		if first := c.name == "first"; first || c.name == "a new session" {
			b.hello(agent, c.session, nil)
		}
		was, _ := b.control.reports.Server("n1")
		power := protocol.PowerOn
		if was != nil && was.Observation.Power == protocol.PowerOn {
			power = protocol.PowerOff
		}
		say(c.session, c.seq, c.at, power)
		is, _ := b.control.reports.Server("n1")
		if taken := is != nil && is.Observation.Power == power; taken != c.taken {
			t.Errorf("%s: taken: %t, want %t", c.name, taken, c.taken)
		}
	}
}

// A report that stands for an earlier one says when servers were read since, and of one that the hub
// lacks it is told at once that it does.
func TestReportAsBefore(t *testing.T) {
	b, agent := joined(t)
	b.hello(agent, "s", nil)
	first := off("n1")
	first.Observation.StartedAt, first.Observation.ReadAt = b.now.Add(-time.Second), b.now
	b.says(agent, message.LeafReport, message.Report{Session: "s", Seq: 1, At: b.now, Shards: 1, Servers: []resource.ServerReport{first}})
	as := func(seq, of uint64) {
		b.says(agent, message.LeafReport, message.Report{Session: "s", Seq: seq, At: b.now, Shards: 1, As: of, Reads: []message.Read{{Age: 3 * time.Second, Took: 2 * time.Second}}})
	}
	// says is what the hub says that it has.
	says := func() []uint64 {
		b.sent = nil
		b.control.Link.Tick(b.now)
		if down := message.TopicDown(agent, message.LeafSync); !slices.ContainsFunc(b.sent, func(p packet) bool { return p.topic == down }) {
			return nil
		}
		return last[message.Sync](b, agent, message.LeafSync).Reported
	}
	for says() != nil { // what is due anyway
		b.now = b.now.Add(time.Second)
	}
	b.now = b.now.Add(20 * time.Second)
	as(2, 1)
	srv, err := store.Get[*resource.Server](b.store.Objects, "n1")
	if err != nil {
		t.Fatal(err)
	}
	b.control.Status.Decorate(srv)
	if o := srv.Status.Report.Observation; !o.StartedAt.Equal(b.now.Add(-3*time.Second)) || !o.ReadAt.Equal(b.now.Add(-time.Second)) || !srv.Status.ReadAt.Equal(o.StartedAt) {
		t.Errorf("read at %s, %s, %s", o.StartedAt, o.ReadAt, srv.Status.ReadAt)
	}
	if got := says(); got != nil {
		t.Errorf("it says %v without need", got)
	}
	as(3, 3)
	if got := says(); !slices.Equal(got, []uint64{1}) {
		t.Errorf("of what it lacks it says that it has %v", got)
	}
	if _, at := b.control.reports.Server("n1"); !at.Equal(b.now) {
		t.Errorf("heard of at %s", at)
	}
}

// An agent speaks of its own rack's servers only, whatever it calls itself.
func TestReportOfAnotherRack(t *testing.T) {
	b, _ := joined(t)
	b.apply(storetest.Rack("r2"))
	thief := b.join("r2")
	claim := storetest.Claim("c1", "n1")
	b.apply(claim)
	b.pass()
	if _, err := b.store.Delete(ctx(t), resource.KindClaim, "c1"); err != nil {
		t.Fatal(err)
	}
	cl, err := store.Get[*resource.Claim](b.store.Objects, "c1")
	if err != nil {
		t.Fatal(err)
	}
	lie := off("n1")
	lie.Released, lie.OwnerUID = true, cl.Metadata.UID
	b.says(thief, message.LeafReport, message.Report{Agent: "r1-1", Rack: "r1", Session: "s", Seq: 1, At: b.now, Servers: []resource.ServerReport{lie}})
	b.pass()
	if _, err := store.Get[*resource.Claim](b.store.Objects, "c1"); err != nil {
		t.Error("another rack's agent ended the claim")
	}
	if r, _ := b.control.reports.Server("n1"); r != nil && r.Released {
		t.Errorf("the mirror has %+v", r)
	}
	h, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", "k", "n1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.store.Holds.Release(ctx(t), h.Metadata.Name, "o", ""); err != nil {
		t.Fatal(err)
	}
	b.says(thief, message.LeafApplied, message.Applied{Doc: "hold", Released: []string{h.Metadata.Name}})
	if _, err := store.Get[*resource.Hold](b.store.Objects, h.Metadata.Name); err != nil {
		t.Error("another rack's agent acknowledged the release")
	}
}

// TestReceipts: Fenced is a word with a proof, which is filed once.
func TestReceipts(t *testing.T) {
	b, agent := joined(t)
	h, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", "k", "n1"))
	if err != nil {
		t.Fatal(err)
	}
	id := h.Metadata.Name
	receipt := func(hold, server, signer string) []byte {
		return seal(t, key(signer), wire.FactReceipt, resource.Receipt{HoldID: hold, Server: server, Agent: agent})
	}
	for _, c := range []struct {
		name    string
		receipt []byte
		word    resource.HoldWord
		filed   int
	}{
		{"no proof", nil, resource.HoldEnforced, 0},
		{"forged", receipt(id, "n1", "thief"), resource.HoldEnforced, 0},
		{"of another hold", receipt("other", "n1", agent), resource.HoldEnforced, 0},
		{"of another server", receipt(id, "n2", agent), resource.HoldEnforced, 0},
		{"proof", receipt(id, "n1", agent), resource.HoldFenced, 1},
		{"the same again", receipt(id, "n1", agent), resource.HoldFenced, 1},
	} {
		r := off("n1")
		r.Holds = []resource.HoldReport{{ID: id, Word: resource.HoldFenced, State: resource.StateFenced, EnforcedAt: b.now, Receipt: c.receipt}}
		b.reports(agent, r)
		v, err := store.Get[*resource.Hold](b.store.Objects, id)
		if err != nil {
			t.Fatal(err)
		}
		b.control.Status.Decorate(v)
		if v.Status.Word != c.word || (v.Status.Receipt != nil) != (c.word == resource.HoldFenced) {
			t.Errorf("%s: %s with receipt %v, want %s", c.name, v.Status.Word, v.Status.Receipt, c.word)
		}
		if n := b.records("receipt." + id); n != c.filed {
			t.Errorf("%s: %d receipts filed, want %d", c.name, n, c.filed)
		}
	}
	b.restart()
	r := off("n1")
	r.Holds = []resource.HoldReport{{ID: id, Word: resource.HoldFenced, State: resource.StateFenced, Receipt: receipt(id, "n1", agent)}}
	b.reports(agent, r)
	if n := b.records("receipt." + id); n != 1 {
		t.Errorf("%d receipts after a restart", n)
	}
}

// TestProvisioned: the agent's signed record is kept once, and what somebody else
// signed is none. One bad fact does not hide the next server's.
func TestProvisioned(t *testing.T) {
	b, agent := joined(t)
	b.apply(storetest.Claim("c1", "n1"), storetest.Claim("c2", "n2"))
	b.pass()
	record := func(claim, server, signer string) resource.ServerReport {
		cl, err := store.Get[*resource.Claim](b.store.Objects, claim)
		if err != nil {
			t.Fatal(err)
		}
		r := off(server)
		r.Provisioned = seal(t, key(signer), wire.FactProvisioned, resource.Provisioned{OwnerUID: cl.Metadata.UID, Generation: 1, Server: server})
		return r
	}
	has := func(claim string) bool {
		c, err := store.Get[*resource.BootConfiguration](b.store.Objects, claim)
		if err != nil {
			t.Fatal(err)
		}
		return c.Status.Provisioned != nil
	}
	b.reports(agent, record("c1", "n1", "thief"), record("c2", "n2", agent))
	if has("c1") || !has("c2") {
		t.Errorf("forged: %t, true: %t", has("c1"), has("c2"))
	}
	moved := record("c2", "n2", agent)
	moved.Server = "n1"
	b.reports(agent, moved)
	if has("c1") {
		t.Error("another server's record counts")
	}
	report := record("c1", "n1", agent)
	b.dies("hub.provisioned.filed", func() { b.reports(agent, report) })
	b.greets(agent)
	b.reports(agent, report)
	c, _ := store.Get[*resource.BootConfiguration](b.store.Objects, "c1")
	if !has("c1") || b.records("provisioned."+c.Metadata.UID) != 1 {
		t.Errorf("after a crash: kept %t, filed %d times", has("c1"), b.records("provisioned."+c.Metadata.UID))
	}
	b.pass()
	if d := last[message.RackDoc](b, agent, "rack/0"); len(d.Servers[0].Boot.Provisioned) == 0 {
		t.Error("the record is not echoed")
	}
}

// TestOutcomes: a request ends once, by the agent's word or by its silence.
func TestOutcomes(t *testing.T) {
	b, agent := joined(t)
	for _, id := range []string{"done", "silent"} {
		if err := b.store.Requests.Put(ctx(t), store.StoredRequest{Request: resource.Request{ID: id, Server: "n1", Action: resource.RequestReboot, NotAfter: b.now.Add(time.Minute)}, Rack: "r1"}); err != nil {
			t.Fatal(err)
		}
	}
	say := func(server string, outcome resource.Outcome) resource.Outcome {
		r := off(server)
		r.Requests = []resource.RequestReport{{ID: "done", Outcome: outcome}}
		b.reports(agent, r)
		q, err := b.store.Requests.Get("done")
		if err != nil {
			t.Fatal(err)
		}
		return q.Report.Outcome
	}
	for _, c := range []struct {
		server     string
		says, want resource.Outcome
	}{
		{"n1", resource.OutcomePending, ""},
		{"n2", resource.OutcomeDone, ""}, // not its request
		{"n1", resource.OutcomeDone, resource.OutcomeDone},
		{"n1", resource.OutcomeRefused, resource.OutcomeDone}, // the first end stays
	} {
		if got := say(c.server, c.says); got != c.want {
			t.Errorf("%s says %s: %q, want %q", c.server, c.says, got, c.want)
		}
	}
	b.pass()
	if d := last[message.HoldDoc](b, agent, message.LeafHold); len(d.Requests) != 1 || d.Requests[0].ID != "silent" {
		t.Errorf("the document still asks for %v", d.Requests)
	}
	b.now = b.now.Add(requests.Silence + 2*time.Minute)
	b.pass()
	if q, err := b.store.Requests.Get("silent"); err != nil || q.Report.Outcome != resource.OutcomeUnknown {
		t.Errorf("the silent request is %+v, %v", q.Report, err)
	}
	b.now = b.now.Add(requests.Kept)
	b.pass()
	if n := len(b.store.Requests.List()); n != 0 {
		t.Errorf("%d requests are kept for ever", n)
	}
}

// A hub that was restored learns of the holds that it has lost from whoever
// enforces them; a hold that was released meanwhile does not come back.
func TestAdoptHolds(t *testing.T) {
	b, agent := joined(t)
	freed, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", "k", "n1"))
	if err != nil {
		t.Fatal(err)
	}
	r := off("n1")
	r.Holds = []resource.HoldReport{{ID: "lost", Word: resource.HoldEnforced}, {ID: freed.Metadata.Name, Word: resource.HoldEnforced}}
	b.reports(agent, r)
	if _, err := store.Get[*resource.Hold](b.store.Objects, "lost"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("adopted before the agent missed it in a document: %v", err)
	}
	if _, err := b.store.Holds.Release(ctx(t), freed.Metadata.Name, "o", ""); err != nil {
		t.Fatal(err)
	}
	b.says(agent, message.LeafApplied, message.Applied{Doc: "hold", Released: []string{freed.Metadata.Name}})
	r.Holds[0].Hold = &resource.ActiveHold{ID: "lost", HoldSpec: resource.HoldSpec{Server: "n1", Owner: "o", HoldTerms: resource.HoldTerms{Key: "k2", Mode: resource.StopHard}}}
	b.reports(agent, r)
	b.pass()
	d := last[message.HoldDoc](b, agent, message.LeafHold)
	if len(d.Holds) != 1 || d.Holds[0].ID != "lost" || d.Holds[0].Server != "n1" {
		t.Errorf("the document holds %+v, want the lost hold", d.Holds)
	}
	if _, err := b.store.Holds.Release(ctx(t), "lost", "o", ""); err != nil {
		t.Errorf("the adopted hold cannot be released: %v", err)
	}
}
