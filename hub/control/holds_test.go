package control

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rackboot/hub/events"
	"rackboot/hub/reports"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

func (b *bench) hold(id string) (*resource.Hold, bool) {
	b.t.Helper()
	h, err := store.Get[*resource.Hold](b.store.Objects, id)
	if protocol.CodeOf(err) == protocol.CodeNotFound {
		return nil, false
	}
	if err != nil {
		b.t.Fatal(err)
	}
	b.control.Status.Decorate(h)
	return h, true
}

func (b *bench) place(owner, key, server string) string {
	b.t.Helper()
	h, err := b.store.Holds.Create(ctx(b.t), storetest.Hold(owner, key, server))
	if err != nil {
		b.t.Fatal(err)
	}
	return h.Metadata.Name
}

// audited are the hub's own events of a hold, in order.
func (b *bench) audited(id string) (out []resource.EventCode) {
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
	local := resource.ActiveHold{
		ID:            "01local",
		HoldSpec:      resource.HoldSpec{Server: "n1", Owner: "local:root", HoldTerms: resource.HoldTerms{Key: "swap", Mode: resource.StopHard, SoftTimeout: protocol.Duration(time.Minute), Ref: "ref", Reason: "disk", TTL: protocol.Duration(time.Hour), OnExpiry: resource.ExpiryRelease, ForceDuringFirmware: true}},
		ConfirmedDown: &resource.Confirmation{By: "local:root", Reason: "pulled", At: b.now},
	}
	r := off("n1")
	r.Holds = []resource.HoldReport{{ID: "01local", Word: resource.HoldEnforced, EnforcedAt: b.now, Hold: &local}}
	m.reports(r)
	b.pass()
	m.listens()
	var d message.HoldDoc
	b.opens(m, message.LeafHold, &d)
	if diff := cmp.Diff([]resource.ActiveHold{local}, d.Holds); diff != "" {
		t.Errorf("the agent is told (-it said +it hears): %s", diff)
	}
	h, _ := b.hold("01local")
	if h.Metadata.Annotations[events.AnnotationAdopted] != m.name || h.Status.State != resource.StateEnforced {
		t.Errorf("%+v, %+v", h.Metadata, h.Status)
	}
	if got := b.audited("01local"); !slices.Equal(got, []resource.EventCode{resource.EventHoldAdopted, resource.EventHoldConfirmed}) {
		t.Errorf("events %v", got)
	}

	r.Holds = []resource.HoldReport{{ID: "01local", Word: resource.HoldReleased, Released: &resource.Release{HoldID: "01local", Server: "n1", By: "local:root", At: b.now}, Hold: &local}}
	m.reports(r)
	b.lane()
	if _, there := b.hold("01local"); there {
		t.Fatal("it was released at the agent and lies on")
	}
	b.pass()
	m.listens()
	d = message.HoldDoc{}
	b.opens(m, message.LeafHold, &d)
	if len(d.Holds)+len(d.Releases) != 0 {
		t.Errorf("the agent is told %+v", d)
	}
	m.reports(r) // until it heard so
	if _, there := b.hold("01local"); there {
		t.Error("it came back")
	}
	if got := b.audited("01local"); !slices.Equal(got[2:], []resource.EventCode{resource.EventReleaseAccepted}) {
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
			r.Holds = []resource.HoldReport{{ID: id, Word: resource.HoldReleased, Released: &resource.Release{HoldID: id, Server: row.server, By: row.by, Reason: strings.Repeat("é", 1000)}}}
			m.reports(r)
			b.lane()
			if _, there := b.hold(id); there == row.ends {
				t.Fatalf("it lies: %t", there)
			}
			if !row.ends {
				return
			}
			var last string
			for _, e := range b.control.Events.After(0, 1000) {
				if e.Code == resource.EventReleaseAccepted {
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
		r.Holds = []resource.HoldReport{{ID: id, Word: resource.HoldReleased, Released: &resource.Release{HoldID: id, Server: server, By: "local:root"}}}
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
				if _, err := b.store.Holds.ConfirmDown(ctx(t), id, "o", "pulled"); err != nil {
					t.Fatal(err)
				}
				b.pass()
			})
			r := off("n1")
			r.Holds = []resource.HoldReport{
				{ID: id, Word: resource.HoldReleased, Released: &resource.Release{By: "expiry"}},
				{ID: "01local", Word: resource.HoldEnforced, Hold: &resource.ActiveHold{ID: "01local", HoldSpec: resource.HoldSpec{Server: "n1", Owner: "local:root", HoldTerms: resource.HoldTerms{Key: "l", Mode: resource.StopSoft}}}},
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
			want := []resource.EventCode{resource.EventHoldAccepted, resource.EventHoldConfirmed, resource.EventReleaseAccepted}
			if got := b.audited(id); !slices.Equal(got, want) {
				t.Errorf("events %v, want %v", got, want)
			}
			if got := b.trail.of("Hold/" + id); !slices.Equal(slices.Compact(got), []string{"hold", "confirm", "release"}) || len(got) > 4 {
				t.Errorf("the audit log has %v", got)
			}
			if got := b.audited("01local"); !slices.Equal(got, []resource.EventCode{resource.EventHoldAdopted}) {
				t.Errorf("events of the local hold %v", got)
			}
		})
	}
}

// Where a hold stands, as people see it. The rules are in package plan.
func TestHoldStanding(t *testing.T) {
	b, m := modernSite(t)
	id := b.place("o", "k", "n1")
	receipt := func(hold string, manual *resource.Confirmation) []byte {
		return seal(t, key(m.name), wire.FactReceipt, resource.Receipt{
			HoldID: hold, Server: "n1", Agent: m.name, StoppedSince: b.now, ConfirmedAt: b.now, Manual: manual,
		})
	}
	said := &resource.Confirmation{By: "admin", Reason: "pulled"}
	expired := b.now
	for _, row := range []struct {
		name    string
		report  *resource.HoldReport
		later   time.Duration
		state   resource.HoldState
		word    resource.HoldWord
		receipt bool
		message string
	}{
		{"nothing yet", nil, 0, resource.StateAccepted, resource.HoldAccepted, false, "on its way to agent " + m.name},
		{"on its disk", &resource.HoldReport{Word: resource.HoldEnforced, State: resource.StateEnforced}, 0, resource.StateEnforced, resource.HoldEnforced, false, ""},
		{
			"stopping",
			&resource.HoldReport{Word: resource.HoldEnforced, State: resource.StateStopping, Reason: "firmware: BIOS", ExpiredAt: &expired},
			0, resource.StateStopping, resource.HoldEnforced, false, "firmware: BIOS",
		},
		{"proved off", &resource.HoldReport{Word: resource.HoldFenced, State: resource.StateFenced, Receipt: receipt(id, nil)}, 0, resource.StateFenced, resource.HoldFenced, true, ""},
		{
			"proved off, and silent since",
			&resource.HoldReport{Word: resource.HoldFenced, State: resource.StateFenced, Receipt: receipt(id, nil)},
			reports.DarkAfter + time.Second, resource.StateUnreachable, resource.HoldFenced, true,
			"the agent is silent; last word Fenced, 46s ago; the receipt proves it off from 2026-11-20T09:00:00Z to 2026-11-20T09:00:00Z",
		},
		{
			"another hold's receipt",
			&resource.HoldReport{Word: resource.HoldFenced, State: resource.StateFenced, Receipt: receipt("other", nil)},
			0, resource.StateEnforced, resource.HoldEnforced, false, "its receipt is not the rack's agent's for this hold; the agent says Fenced",
		},
		{"confirmed", &resource.HoldReport{Word: resource.HoldEnforced, State: resource.StateConfirmed, Receipt: receipt(id, said)}, 0, resource.StateConfirmed, resource.HoldEnforced, true, ""},
		{"fenced by a word", &resource.HoldReport{Word: resource.HoldFenced, State: resource.StateFenced, Receipt: receipt(id, said)}, 0, resource.StateEnforced, resource.HoldEnforced, true, "the agent says Fenced"},
		{"confirmed without a receipt", &resource.HoldReport{Word: resource.HoldEnforced, State: resource.StateConfirmed}, 0, resource.StateUnreachable, resource.HoldEnforced, false, ""},
		{"a word of later", &resource.HoldReport{Word: resource.HoldEnforced, State: "Molten"}, 0, resource.StateEnforced, resource.HoldEnforced, false, "the agent says Molten"},
	} {
		r := off("n1")
		if row.report != nil {
			row.report.ID, row.report.EnforcedAt = id, b.now
			r.Holds = []resource.HoldReport{*row.report}
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
	if _, err := b.store.Holds.ConfirmDown(ctx(t), id, "admin", "no lights"); err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(reports.DarkAfter + time.Second)
	if h, _ := b.hold(id); h.Status.State != resource.StateUnreachable || !strings.HasSuffix(h.Status.Message, `"admin" says that it is down: no lights`) {
		t.Errorf("%+v", h.Status)
	}
	if _, err := b.store.Holds.Release(ctx(t), id, "o", ""); err != nil {
		t.Fatal(err)
	}
	if h, _ := b.hold(id); h.Status.State != resource.StateReleasing || h.Status.Word != resource.HoldReleased || h.Status.Message != "the agent has not acknowledged the release" {
		t.Errorf("%+v", h.Status)
	}
}

// A rack that nobody serves holds nothing.
func TestHoldWithoutAnAgent(t *testing.T) {
	b := newBench(t, &movingTag{})
	b.apply(storetest.Site()...)
	id := b.place("o", "k", "n1")
	if h, _ := b.hold(id); h.Status.State != resource.StateAccepted || h.Status.Message != "its rack has no agent" {
		t.Errorf("%+v", h.Status)
	}
}
