package store

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func anApproval(id string, class resource.ApprovalClass, targets ...string) resource.Approval {
	return resource.Approval{
		ID: id, Class: class, Rack: "r1", AgentKey: make([]byte, 32), Targets: targets, NotBefore: noon, NotAfter: noon.Add(time.Hour),
	}
}

// guardedStore is a store whose agent knows a destructive key.
func guardedStore(t *testing.T) *Store {
	t.Helper()
	s, _ := opened(t, t.TempDir())
	s.Approvals.guard = func() bool { return true }
	return s
}

// approve takes approvals and returns the answers of those that are refused.
func (s *Store) approve(t *testing.T, at time.Time, all ...resource.Approval) map[string]decide.ApprovalAnswer {
	t.Helper()
	_, refused, err := s.Approvals.Take(at, all, func(a resource.Approval) bool { return a.Rack == "r1" })
	if err != nil {
		t.Fatal(err)
	}
	return refused
}

// An approval that was forgotten does not come back on a clock that was set back.
func TestApprovalFloor(t *testing.T) {
	s := guardedStore(t)
	a := anApproval("a1", resource.ApproveBulkStop, "n1")
	if r := s.approve(t, noon, a); len(r) > 0 {
		t.Fatalf("refused: %v", r)
	}
	v, err := s.Servers.View("n1")
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[time.Duration]string{-time.Minute: "", time.Minute: "a1", 2 * time.Hour: ""} {
		if got := v.Approval(noon.Add(at)); got != want {
			t.Errorf("at %s: %q, want %q", at, got, want)
		}
	}
	s.approve(t, noon.Add(2*time.Hour)) // it is forgotten
	if r := s.approve(t, noon.Add(time.Minute), a); r["a1"] != decide.ApprovalTooLate {
		t.Errorf("the clock was set back: %v", r)
	}
	if v, err = s.Servers.View("n1"); err != nil || v.Approval(noon.Add(time.Minute)) != "" {
		t.Errorf("it counts again: %v", err)
	}
}

func TestApprovalsAreBounded(t *testing.T) {
	s := guardedStore(t)
	var all []resource.Approval
	for i := range resource.MaxApprovals + 1 {
		all = append(all, anApproval("a"+strconv.Itoa(i), resource.ApproveBulkStop, "n1"))
	}
	last := all[len(all)-1].ID
	if r := s.approve(t, noon, all...); len(r) != 1 || r[last] != decide.ApprovalNoRoom {
		t.Errorf("refused: %v", r)
	}
}

// What a ForceOff took is on disk with the step that sends it; room comes back after
// the window, and one server takes of it once.
func TestForcedIsCounted(t *testing.T) {
	s := guardedStore(t)
	force := func(server string, at time.Time, c decide.Clearance) {
		t.Helper()
		c.At, c.Window = at, time.Minute
		if _, _, err := s.Servers.Step(server, func(v View) decide.Plan { return decide.Plan{Record: v.Record, Persist: true, Cleared: c} }); err != nil {
			t.Fatal(err)
		}
	}
	count := decide.Clearance{How: decide.ClearCount}
	force("n1", noon, count)
	force("n1", noon.Add(time.Second), count)
	force("n2", noon, count)
	for _, tt := range []struct {
		server string
		at     time.Duration
		want   int
	}{{"n3", 0, 2}, {"n1", 0, 1}, {"n3", 61 * time.Second, 0}, {"n3", time.Minute, 1}, {"n3", -2 * time.Minute, 0}} {
		v, err := s.Servers.View(tt.server)
		if err != nil {
			t.Fatal(err)
		}
		if got := v.Forced(noon.Add(tt.at), time.Minute); got != tt.want {
			t.Errorf("%s after %s: %d others, want %d", tt.server, tt.at, got, tt.want)
		}
	}
	s.approve(t, noon, anApproval("a1", resource.ApproveBulkStop, "n3"))
	force("n3", noon, decide.Clearance{How: decide.ClearSpend, Approval: "a1"})
	v, err := s.Servers.View("n3")
	if err != nil {
		t.Fatal(err)
	}
	if v.Approval(noon) != "" {
		t.Error("the approval was used and counts on")
	}
	if r := s.approve(t, noon, anApproval("a1", resource.ApproveBulkStop, "n3")); len(r) > 0 {
		t.Errorf("refused: %v", r)
	}
	if v, err = s.Servers.View("n3"); err != nil || v.Approval(noon) != "" {
		t.Errorf("the same came again, and counts: %v", err)
	}
}

// A release without the approval that it needs is not acknowledged as released, in the
// document that brings it and in each copy of that.
func TestWithheldRelease(t *testing.T) {
	s := guardedStore(t)
	apply := func(version uint64, holds []resource.ActiveHold, releases ...resource.Release) (released []string) {
		t.Helper()
		d := message.HoldDoc{Head: protocol.Head{Version: version}, IssuedAt: noon, Holds: holds, Releases: releases}
		_, released, err := s.Documents.ApplyHolds(noon, d, strconv.Itoa(int(version)))
		if err != nil {
			t.Fatal(err)
		}
		return released
	}
	lie := func() (h decide.Hold, ok bool) {
		v, err := s.Servers.View("n1")
		if err != nil {
			t.Fatal(err)
		}
		if len(v.Holds) == 0 {
			return h, false
		}
		return v.Holds[0], true
	}
	admin := resource.Release{HoldID: "h1", Server: "n1", By: "admin"}
	apply(1, []resource.ActiveHold{lying("h1")})
	for range 2 {
		if got := apply(2, nil, admin); len(got) != 0 {
			t.Errorf("acknowledged as released: %v", got)
		}
	}
	if h, ok := lie(); !ok || h.Withheld == "" || !h.Missing {
		t.Errorf("hold %+v, %t", h, ok)
	}
	apply(3, []resource.ActiveHold{lying("h1")})
	if h, _ := lie(); h.Withheld != "" || h.Missing {
		t.Errorf("the document names it again: %+v", h)
	}
	s.approve(t, noon, anApproval("a1", resource.ApproveHoldOverride, "h1"))
	for range 2 {
		if got := apply(4, nil, admin); !slices.Equal(got, []string{"h1"}) {
			t.Errorf("released %v", got)
		}
	}
	apply(5, []resource.ActiveHold{lying("h1")})
	if got := apply(6, nil, admin); len(got) != 0 {
		t.Error("the approval was used twice")
	}
}

// An approval of a boot is on disk as used with the step that begins the boot; the same that
// comes again is of no more use, and those of stops are none of boots.
func TestBootIsApprovedOnce(t *testing.T) {
	s := guardedStore(t)
	wipe := anApproval("a1", resource.ApproveWipe, "n1", "n2")
	wipe.Boots = []resource.ApprovedBoot{{Server: "n1", Owner: "m1", BootEnv: "decommission"}, {Server: "n2", Owner: "m2", BootEnv: "decommission"}}
	touched, refused, err := s.Approvals.Take(noon, []resource.Approval{wipe, anApproval("a2", resource.ApproveBulkStop, "n1"), anApproval("a3", resource.ApproveWipe, "n1")},
		func(resource.Approval) bool { return true })
	if err != nil || refused["a3"] != decide.ApprovalMalformed || len(refused) != 1 || !slices.Equal(touched, []string{"n1", "n2", "n1"}) {
		t.Fatalf("%v, %v, %v", touched, refused, err)
	}
	boots := func(server string, at time.Duration) (ids []string) {
		t.Helper()
		v, err := s.Servers.View(server)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range v.Boots(noon.Add(at)) {
			ids = append(ids, a.ID)
		}
		return ids
	}
	for at, want := range map[time.Duration][]string{-time.Minute: nil, 0: {"a1"}, time.Hour: nil} {
		if got := boots("n1", at); !slices.Equal(got, want) {
			t.Errorf("at %s: %v, want %v", at, got, want)
		}
	}
	if _, _, err := s.Servers.Step("n1", func(v View) decide.Plan { return decide.Plan{Record: v.Record, Persist: true, Spent: "a1"} }); err != nil {
		t.Fatal(err)
	}
	s.approve(t, noon, wipe)
	if got := boots("n1", 0); len(got) > 0 {
		t.Errorf("used, and it counts on: %v", got)
	}
	if got := boots("n2", 0); !slices.Equal(got, []string{"a1"}) {
		t.Errorf("of the other server: %v", got)
	}
}
