package control

import (
	"rackboot/hub/events"
	"rackboot/hub/reports"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/wire"
)

func (b *bench) hold(id string) (*protocol.Hold, bool) {
	b.t.Helper()
	h, err := store.Get[*protocol.Hold](b.store, id)
	if protocol.CodeOf(err) == protocol.CodeNotFound {
		return nil, false
	}
	if err != nil {
		b.t.Fatal(err)
	}
	b.control.Decorate(h)
	return h, true
}

func (b *bench) place(owner, key, server string) string {
	b.t.Helper()
	h, err := b.store.CreateHold(ctx(b.t), storetest.Hold(owner, key, server))
	if err != nil {
		b.t.Fatal(err)
	}
	return h.Metadata.Name
}

// audited are the hub's own events of a hold, in order.
func (b *bench) audited(id string) (out []protocol.EventCode) {
	b.t.Helper()
	for _, e := range b.control.Events.After(0, 1000) {
		if e.Agent == events.HubName && strings.HasPrefix(e.Message, id+" ") {
			out = append(out, e.Code)
		}
	}
	return out
}

// A hold that was placed at the agent is taken over with its id and its terms, and
// ends where it began: at the agent.
func TestLocalHold(t *testing.T) {
	b, m := modernSite(t)
	local := protocol.ActiveHold{
		ID:            "01local",
		HoldSpec:      protocol.HoldSpec{Server: "n1", Owner: "local:root", HoldTerms: protocol.HoldTerms{Key: "swap", Mode: protocol.StopHard, SoftTimeout: protocol.Duration(time.Minute), Ref: "ref", Reason: "disk", TTL: protocol.Duration(time.Hour), OnExpiry: protocol.ExpiryRelease, ForceDuringFirmware: true}},
		ConfirmedDown: &protocol.Confirmation{By: "local:root", Reason: "pulled", At: b.now},
	}
	r := off("n1")
	r.Holds = []protocol.HoldReport{{ID: "01local", Word: protocol.HoldEnforced, EnforcedAt: b.now, Hold: &local}}
	m.reports(r)
	b.pass()
	m.listens()
	var d protocol.HoldDoc
	b.opens(m, protocol.LeafHold, &d)
	if diff := cmp.Diff([]protocol.ActiveHold{local}, d.Holds); diff != "" {
		t.Errorf("the agent is told (-it said +it hears): %s", diff)
	}
	h, _ := b.hold("01local")
	if h.Metadata.Annotations[events.AnnotationAdopted] != m.name || h.Status.State != protocol.StateEnforced {
		t.Errorf("%+v, %+v", h.Metadata, h.Status)
	}
	if got := b.audited("01local"); !slices.Equal(got, []protocol.EventCode{protocol.EventHoldAdopted, protocol.EventHoldConfirmed}) {
		t.Errorf("events %v", got)
	}

	r.Holds = []protocol.HoldReport{{ID: "01local", Word: protocol.HoldReleased, Released: &protocol.Release{HoldID: "01local", Server: "n1", By: "local:root", At: b.now}, Hold: &local}}
	m.reports(r)
	if _, there := b.hold("01local"); there {
		t.Fatal("it was released at the agent and lies on")
	}
	b.pass()
	m.listens()
	d = protocol.HoldDoc{}
	b.opens(m, protocol.LeafHold, &d)
	if len(d.Holds)+len(d.Releases) != 0 {
		t.Errorf("the agent is told %+v", d)
	}
	m.reports(r) // until it heard so
	if _, there := b.hold("01local"); there {
		t.Error("it came back")
	}
	if got := b.audited("01local"); !slices.Equal(got[2:], []protocol.EventCode{protocol.EventReleaseAccepted}) {
		t.Errorf("events %v", got)
	}
}

// What an agent says of the end of a hold is taken for its own servers only, and for
// nobody's word but that of people at its host, and of time.
func TestEndedAtTheAgent(t *testing.T) {
	for _, row := range []struct {
		name, server, by string
		ends             bool
		kept             string
		kind             events.ReleaseKind
	}{
		{"its time is over", "n1", "expiry", true, "expiry", events.ReleasedByExpiry},
		{"by break-glass there", "n1", "local:root", true, "local:root", events.ReleasedByForce},
		{"in the name of the owner", "n1", "o", true, "local:r1-1", events.ReleasedByForce},
		{"of another server", "n2", "local:root", false, "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			b, m := modernSite(t)
			id := b.place("o", "k", "n1")
			b.pass()
			m.listens()
			r := off(row.server)
			r.Holds = []protocol.HoldReport{{ID: id, Word: protocol.HoldReleased, Released: &protocol.Release{HoldID: id, Server: row.server, By: row.by, Reason: strings.Repeat("é", 1000)}}}
			m.reports(r)
			if _, there := b.hold(id); there == row.ends {
				t.Fatalf("it lies: %t", there)
			}
			if !row.ends {
				return
			}
			var last string
			for _, e := range b.control.Events.After(0, 1000) {
				if e.Code == protocol.EventReleaseAccepted {
					last = e.Message
				}
			}
			if !strings.Contains(last, "by "+row.kept+" ("+string(row.kind)+")") || len(last) > 1200 {
				t.Errorf("it is on record that %s", last)
			}
		})
	}
}

// Another rack's agent ends no hold of this one.
func TestEndedByAnotherRack(t *testing.T) {
	b, m := modernSite(t)
	b.apply(storetest.Rack("r2"), storetest.Segment("boot2", "r2"), storetest.BMC("b9", "r2"), storetest.Server("n9", "b9", "boot2", "52:54:00:00:00:09"))
	id := b.place("o", "k", "n1")
	b.pass()
	m.listens()
	other := b.modern(b.join("r2"))
	other.connects()
	for _, server := range []string{"n1", "n9"} {
		r := off(server)
		r.Holds = []protocol.HoldReport{{ID: id, Word: protocol.HoldReleased, Released: &protocol.Release{HoldID: id, Server: server, By: "local:root"}}}
		other.reports(r)
	}
	if _, there := b.hold(id); !there {
		t.Error("a hold of rack r1 was ended by rack r2")
	}
}

// Killed between what it wrote, the hub files each step of a hold once.
func TestAuditOnce(t *testing.T) {
	for _, point := range []string{"hub.hold.recorded", "hub.hold.filed", "hub.hold.ended", "hub.hold.removed", "hub.hold.adopted"} {
		t.Run(point, func(t *testing.T) {
			b, m := modernSite(t)
			b.crash = point
			step := func(do func()) {
				died := false
				func() {
					defer func() {
						if r := recover(); r != nil {
							if r != any(crashed{point}) {
								panic(r)
							}
							died = true
						}
					}()
					do()
				}()
				if died {
					b.restart()
					m.connects()
					do()
				}
			}
			id := b.place("o", "k", "n1")
			step(func() { b.pass(); m.listens() })
			step(func() {
				if _, err := b.store.ConfirmDown(ctx(t), id, "o", "pulled"); err != nil {
					t.Fatal(err)
				}
				b.pass()
			})
			r := off("n1")
			r.Holds = []protocol.HoldReport{
				{ID: id, Word: protocol.HoldReleased, Released: &protocol.Release{By: "expiry"}},
				{ID: "01local", Word: protocol.HoldEnforced, Hold: &protocol.ActiveHold{ID: "01local", HoldSpec: protocol.HoldSpec{Server: "n1", Owner: "local:root", HoldTerms: protocol.HoldTerms{Key: "l", Mode: protocol.StopSoft}}}},
			}
			step(func() { m.reports(r); b.pass(); m.listens() })
			b.restart()
			m.connects()
			step(func() { m.reports(r); b.pass(); m.listens() })
			if b.crash != "" {
				t.Fatalf("the hub did not come to %s", point)
			}
			if _, there := b.hold(id); there {
				t.Error("the hold that ended lies on")
			}
			want := []protocol.EventCode{protocol.EventHoldAccepted, protocol.EventHoldConfirmed, protocol.EventReleaseAccepted}
			if got := b.audited(id); !slices.Equal(got, want) {
				t.Errorf("events %v, want %v", got, want)
			}
			if got := b.trail.of("Hold/" + id); !slices.Equal(slices.Compact(got), []string{"hold", "confirm", "release"}) || len(got) > 4 {
				t.Errorf("the audit log has %v", got)
			}
			if got := b.audited("01local"); !slices.Equal(got, []protocol.EventCode{protocol.EventHoldAdopted}) {
				t.Errorf("events of the local hold %v", got)
			}
		})
	}
}

// Where a hold stands, as people see it. The rules are in package plan.
func TestHoldStanding(t *testing.T) {
	b, m := modernSite(t)
	id := b.place("o", "k", "n1")
	receipt := func(hold string, manual *protocol.Confirmation) []byte {
		return seal(t, key(m.name), wire.FactReceipt, protocol.Receipt{
			HoldID: hold, Server: "n1", Agent: m.name, StoppedSince: b.now, ConfirmedAt: b.now, Manual: manual,
		})
	}
	said := &protocol.Confirmation{By: "admin", Reason: "pulled"}
	expired := b.now
	for _, row := range []struct {
		name    string
		report  *protocol.HoldReport
		later   time.Duration
		state   protocol.HoldState
		word    protocol.HoldWord
		receipt bool
		message string
	}{
		{"nothing yet", nil, 0, protocol.StateAccepted, protocol.HoldAccepted, false, "on its way to agent " + m.name},
		{"on its disk", &protocol.HoldReport{Word: protocol.HoldEnforced, State: protocol.StateEnforced}, 0, protocol.StateEnforced, protocol.HoldEnforced, false, ""},
		{
			"stopping",
			&protocol.HoldReport{Word: protocol.HoldEnforced, State: protocol.StateStopping, Reason: "firmware: BIOS", ExpiredAt: &expired},
			0, protocol.StateStopping, protocol.HoldEnforced, false, "firmware: BIOS",
		},
		{"proved off", &protocol.HoldReport{Word: protocol.HoldFenced, State: protocol.StateFenced, Receipt: receipt(id, nil)}, 0, protocol.StateFenced, protocol.HoldFenced, true, ""},
		{
			"proved off, and silent since",
			&protocol.HoldReport{Word: protocol.HoldFenced, State: protocol.StateFenced, Receipt: receipt(id, nil)},
			reports.DarkAfter + time.Second, protocol.StateUnreachable, protocol.HoldFenced, true,
			"the agent is silent; last word Fenced, 46s ago; the receipt proves it off from 2026-11-20T09:00:00Z to 2026-11-20T09:00:00Z",
		},
		{
			"another hold's receipt",
			&protocol.HoldReport{Word: protocol.HoldFenced, State: protocol.StateFenced, Receipt: receipt("other", nil)},
			0, protocol.StateEnforced, protocol.HoldEnforced, false, "its receipt is not the rack's agent's for this hold; the agent says Fenced",
		},
		{"confirmed", &protocol.HoldReport{Word: protocol.HoldEnforced, State: protocol.StateConfirmed, Receipt: receipt(id, said)}, 0, protocol.StateConfirmed, protocol.HoldEnforced, true, ""},
		{"fenced by a word", &protocol.HoldReport{Word: protocol.HoldFenced, State: protocol.StateFenced, Receipt: receipt(id, said)}, 0, protocol.StateEnforced, protocol.HoldEnforced, true, "the agent says Fenced"},
		{"confirmed without a receipt", &protocol.HoldReport{Word: protocol.HoldEnforced, State: protocol.StateConfirmed}, 0, protocol.StateUnreachable, protocol.HoldEnforced, false, ""},
		{"a word of later", &protocol.HoldReport{Word: protocol.HoldEnforced, State: "Molten"}, 0, protocol.StateEnforced, protocol.HoldEnforced, false, "the agent says Molten"},
	} {
		r := off("n1")
		if row.report != nil {
			row.report.ID, row.report.EnforcedAt = id, b.now
			r.Holds = []protocol.HoldReport{*row.report}
		}
		m.reports(r)
		b.now = b.now.Add(row.later)
		h, _ := b.hold(id)
		b.now = b.now.Add(-row.later)
		st := h.Status
		if st.State != row.state || st.Word != row.word || (st.Receipt != nil) != row.receipt || (len(st.SignedReceipt) > 0) != row.receipt || st.Message != row.message {
			t.Errorf("%s: state %s, word %s, receipt %t, message %q", row.name, st.State, st.Word, st.Receipt != nil, st.Message)
		}
		if row.report != nil && (st.EnforcedAt == nil || (st.ExpiredAt != nil) != (row.report.ExpiredAt != nil)) {
			t.Errorf("%s: enforced %v, expired %v", row.name, st.EnforcedAt, st.ExpiredAt)
		}
	}

	// The agent may be dark when somebody looks at the server.
	if _, err := b.store.ConfirmDown(ctx(t), id, "admin", "no lights"); err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(reports.DarkAfter + time.Second)
	if h, _ := b.hold(id); h.Status.State != protocol.StateUnreachable || !strings.HasSuffix(h.Status.Message, `"admin" says that it is down: no lights`) {
		t.Errorf("%+v", h.Status)
	}
	if _, err := b.store.ReleaseHold(ctx(t), id, "o", ""); err != nil {
		t.Fatal(err)
	}
	if h, _ := b.hold(id); h.Status.State != protocol.StateReleasing || h.Status.Word != protocol.HoldReleased || h.Status.Message != "the agent has not acknowledged the release" {
		t.Errorf("%+v", h.Status)
	}
}

// A rack that nobody serves holds nothing.
func TestHoldWithoutAnAgent(t *testing.T) {
	b := newBench(t, &movingTag{})
	b.apply(storetest.Site()...)
	id := b.place("o", "k", "n1")
	if h, _ := b.hold(id); h.Status.State != protocol.StateAccepted || h.Status.Message != "its rack has no agent" {
		t.Errorf("%+v", h.Status)
	}
}
