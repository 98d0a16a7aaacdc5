package control

import (
	"crypto/ed25519"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/hub/approval"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

func destructiveSeed() ed25519.PrivateKey { return key("destructive") }

// approvalSite is a site whose agent knows the destructive key, which is a file at the
// hub, or with a person.
func approvalSite(t *testing.T, person bool) (*bench, *modern) {
	t.Helper()
	b, m := modernSite(t)
	b.knowsDestructive(m, person)
	b.policy = approval.Policy{resource.ApproveBulkStop: 2, resource.ApproveHoldOverride: 1}
	b.restart()
	m.connects()
	b.pass()
	m.listens()
	return b, m
}

// knowsDestructive has hub and agent know the destructive key, from the next start on.
func (b *bench) knowsDestructive(m *modern, person bool) {
	t := b.t
	t.Helper()
	private, public, err := wire.EncodeKey(destructiveSeed())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "key")
	if person {
		if err := os.WriteFile(path, public, 0o600); err != nil {
			t.Fatal(err)
		}
		b.destructive, err = approval.ReadPublic(path, nil)
	} else {
		if err := os.WriteFile(path, private, 0o600); err != nil {
			t.Fatal(err)
		}
		b.destructive, err = approval.ReadPrivate(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	m.stance = &resource.ApprovalStance{Keys: [][]byte{b.destructive.Public()}, BulkStop: 2, Window: time.Minute}
}

// waitsFor is a report of a server whose stop waits.
func waitsFor(server string) resource.ServerReport {
	r := off(server)
	r.Observation.Power = protocol.PowerOn
	r.Conditions = []resource.ConditionState{{Code: resource.CondApprovalNeeded}}
	return r
}

// approvals are those of a state.
func (b *bench) approvals(state resource.ApprovalState) (out []resource.ApprovalRequest) {
	for _, r := range b.control.Approvals.List() {
		if r.State == state {
			out = append(out, r)
		}
	}
	return out
}

func (b *bench) one(state resource.ApprovalState) resource.ApprovalRequest {
	b.t.Helper()
	got := b.approvals(state)
	if len(got) != 1 {
		b.t.Fatalf("%d approvals are %s: %+v", len(got), state, b.control.Approvals.List())
	}
	return got[0]
}

func (b *bench) grant(r resource.ApprovalRequest, by string) (resource.ApprovalRequest, error) {
	b.t.Helper()
	return b.control.Approvals.Grant(b.t.Context(), r.ID, r.Version, by, true)
}

// holdDoc is the newest that the agent has.
func (m *modern) holdDoc() (d message.HoldDoc) {
	m.b.t.Helper()
	if err := wire.Open(m.hub, message.TopicDown(m.name, message.LeafHold), m.bodies[message.LeafHold], &d); err != nil {
		m.b.t.Fatal(err)
	}
	return d
}

// carried are the approvals in the agent's newest hold document.
func (m *modern) carried() (out []resource.Approval) {
	m.b.t.Helper()
	for _, sealed := range m.holdDoc().Approvals {
		var a resource.Approval
		if err := wire.Open(wire.NewVerifier(destructiveSeed().Public().(ed25519.PublicKey)), wire.FactApproval, sealed, &a); err != nil {
			m.b.t.Fatal(err)
		}
		out = append(out, a)
	}
	return out
}

// Stops that wait at the agent become one wish, which grows until somebody grants it;
// two people grant it, the second of whom did not ask; then it travels, and ends.
func TestBulkStopIsApproved(t *testing.T) {
	b, m := approvalSite(t, false)
	b.place("ha", "k", "n1")
	b.place("ha", "k", "n2")
	b.pass()
	m.listens()
	m.reports(waitsFor("n1"), off("n2"))
	b.pass()
	read := b.one(resource.ApprovalPending)
	m.reports(waitsFor("n1"), waitsFor("n2"))
	b.pass()
	r := b.one(resource.ApprovalPending)
	if !slices.Equal(r.Targets, []string{"n1", "n2"}) || !slices.Equal(r.Asked, []string{"ha"}) || r.Approvers != 2 || !r.NeedsKey {
		t.Fatalf("asked: %+v", r)
	}
	if _, err := b.grant(read, "alice"); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("granted as it was before it grew: %v", err)
	}
	if _, err := b.control.Approvals.Grant(t.Context(), r.ID, r.Version, "eve", false); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("granted without the right: %v", err)
	}
	b.crash = "hub.approval.granted"
	b.dies("hub.approval.granted", func() { _, _ = b.grant(r, "alice") })
	m.connects()
	b.pass()
	if r = b.one(resource.ApprovalPending); !slices.Equal(r.By, []string{"alice"}) {
		t.Fatalf("after the crash: %+v", r)
	}
	for by, want := range map[string]protocol.Code{"alice": "", "ha": protocol.CodeDenied} {
		if got, err := b.grant(r, by); protocol.CodeOf(err) != want || got.State != resource.ApprovalPending {
			t.Errorf("%s is the second: %s, %v", by, got.State, err)
		}
	}
	b.dies("hub.approval.signed", func() { _, _ = b.grant(r, "bob") })
	m.connects()
	b.pass()
	m.listens()
	if got := m.carried(); len(got) != 1 || got[0].ID != r.ID || !slices.Equal(got[0].By, []string{"alice", "bob"}) {
		t.Errorf("carried: %+v", got)
	}
	m.reports(waitsFor("n1"), waitsFor("n2"))
	b.pass()
	if open := b.approvals(resource.ApprovalPending); len(open) != 0 {
		t.Errorf("asked again while it travels: %+v", open)
	}
	b.now = b.now.Add(time.Hour + time.Second)
	m.connects()
	m.reports(off("n1"), off("n2"))
	b.pass()
	m.listens()
	if got := m.carried(); len(got) != 0 {
		t.Errorf("carried after its time: %+v", got)
	}
	b.one(resource.ApprovalEnded)
	told := 0
	for _, e := range b.control.Events.After(0, 1000) {
		if e.Code == resource.EventApproval && strings.HasPrefix(e.Message, r.ID+" ") {
			told++
		}
	}
	if told < 4 { // asked twice, granted, signed, ended; a crash may lose one
		t.Errorf("%d events", told)
	}
	b.now = b.now.Add(24 * time.Hour)
	b.pass()
	if all := b.control.Approvals.List(); len(all) != 0 {
		t.Errorf("kept for ever: %+v", all)
	}
}

// A release by somebody else than the hold's owner does not travel before it is
// approved; denied or forgotten, it is taken back.
func TestOverrideIsApproved(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(b *bench, r resource.ApprovalRequest)
		gone bool
	}{
		"granted": {func(b *bench, r resource.ApprovalRequest) {
			if got, err := b.grant(r, "admin"); err != nil || got.State != resource.ApprovalApproved {
				b.t.Errorf("%s, %v", got.State, err)
			}
		}, true},
		"denied": {func(b *bench, r resource.ApprovalRequest) {
			if got, err := b.control.Approvals.Deny(b.t.Context(), r.ID, "carol", "no", true); err != nil || got.State != resource.ApprovalDenied {
				b.t.Errorf("%s, %v", got.State, err)
			}
		}, false},
		"denied, and killed": {func(b *bench, r resource.ApprovalRequest) {
			b.dies("hub.approval.unreleased", func() { _, _ = b.control.Approvals.Deny(b.t.Context(), r.ID, "carol", "no", true) })
			_, _ = b.control.Approvals.Deny(b.t.Context(), r.ID, "carol", "no", true)
		}, false},
		"forgotten": {func(b *bench, r resource.ApprovalRequest) { b.now = b.now.Add(time.Hour) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			b, m := approvalSite(t, false)
			id := b.place("ha", "k", "n1")
			b.pass()
			m.listens()
			if _, err := b.store.Holds.Release(ctx(t), id, "admin", "its owner is gone"); err != nil {
				t.Fatal(err)
			}
			b.dies("hub.approval.asked", b.pass)
			m.connects()
			b.pass()
			m.listens()
			if d := m.holdDoc(); len(d.Holds) != 1 || len(d.Releases) != 0 {
				t.Fatalf("before it is approved: %+v", d)
			}
			r := b.one(resource.ApprovalPending)
			if r.Class != resource.ApproveHoldOverride || !slices.Equal(r.Targets, []string{id}) || !slices.Equal(r.Asked, []string{"admin"}) || r.Reason != "its owner is gone" {
				t.Errorf("asked: %+v", r)
			}
			if h, _ := b.hold(id); h.Status.State != resource.StateReleasing || !strings.Contains(h.Status.Message, r.ID) {
				t.Errorf("status %+v", h.Status)
			}
			tt.end(b, r)
			m.connects()
			b.pass()
			m.listens()
			d := m.holdDoc()
			if gone := len(d.Releases) == 1; gone != tt.gone || gone != (len(m.carried()) == 1) || gone == (len(d.Holds) == 1) {
				t.Errorf("document %+v", d)
			}
			m.reports(off("n1"))
			b.pass()
			m.listens()
			h, there := b.hold(id)
			if there == tt.gone || there && h.Status.ReleasedAt != nil {
				t.Errorf("there %t: %+v", there, h)
			}
		})
	}
}

// A release that was sent and that the agent did not follow waits for an approval too,
// and its hold is not forgotten.
func TestWithheldIsAsked(t *testing.T) {
	b, m := modernSite(t)
	id := b.place("ha", "k", "n1")
	b.pass()
	m.listens()
	m.stance = &resource.ApprovalStance{Keys: [][]byte{destructiveSeed().Public().(ed25519.PublicKey)}}
	m.deaf = true
	if _, err := b.store.Holds.Release(ctx(t), id, "admin", "gone"); err != nil {
		t.Fatal(err)
	}
	b.pass() // the hub does not know of the key yet
	if d := last[message.HoldDoc](b, m.name, message.LeafHold); len(d.Releases) != 1 {
		t.Fatalf("not sent: %+v", d)
	}
	m.deaf = false
	m.connects()
	b.pass()
	m.listens()
	r := off("n1")
	r.Holds = []resource.HoldReport{{ID: id, Word: resource.HoldFenced, Withheld: true, Hold: &resource.ActiveHold{ID: id, HoldSpec: resource.HoldSpec{Server: "n1", Owner: "ha", HoldTerms: resource.HoldTerms{Key: "k"}}}}}
	m.reports(r)
	b.pass()
	m.listens()
	if _, there := b.hold(id); !there {
		t.Fatal("the hub forgot a hold that its agent enforces")
	}
	if a := b.one(resource.ApprovalPending); !slices.Equal(a.Targets, []string{id}) {
		t.Errorf("asked: %+v", a)
	}
	if d := m.holdDoc(); len(d.Holds) != 1 || len(d.Releases) != 0 {
		t.Errorf("document %+v", d)
	}
}

// A policy counts also where no agent knows a key, and the signature of a person is
// taken for what it signs only.
func TestWhoSigns(t *testing.T) {
	b, m := approvalSite(t, true)
	m.reports(waitsFor("n1"))
	b.pass()
	r := b.one(resource.ApprovalPending)
	for _, by := range []string{"alice", "bob"} {
		var err error
		if r, err = b.grant(r, by); err != nil {
			t.Fatal(err)
		}
	}
	if r.State != resource.ApprovalGranted {
		t.Fatalf("it is %s", r.State)
	}
	wider := r.Approval
	wider.Targets = []string{"n1", "n2"}
	for name, tt := range map[string]struct {
		key  ed25519.PrivateKey
		what resource.Approval
	}{"the everyday key": {key("hub"), r.Approval}, "something else": {destructiveSeed(), wider}} {
		if _, err := b.control.Approvals.Sign(ctx(t), r.ID, seal(t, tt.key, wire.FactApproval, tt.what), "alice"); protocol.CodeOf(err) != protocol.CodeDenied {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r, err := b.control.Approvals.Sign(ctx(t), r.ID, seal(t, destructiveSeed(), wire.FactApproval, r.Approval), "alice"); err != nil || r.State != resource.ApprovalApproved {
		t.Errorf("%s, %v", r.State, err)
	}

	m.stance = &resource.ApprovalStance{}
	m.connects()
	id := b.place("ha", "k", "n2")
	if _, err := b.store.Holds.Release(ctx(t), id, "admin", "gone"); err != nil {
		t.Fatal(err)
	}
	b.pass()
	if r = b.one(resource.ApprovalPending); r.NeedsKey {
		t.Errorf("asked: %+v", r)
	}
	if r, err := b.grant(r, "admin"); err != nil || r.State != resource.ApprovalApproved {
		t.Errorf("%s, %v", r.State, err)
	}
}
