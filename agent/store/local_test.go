package store

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state/statetest"
)

// known makes the agent know servers by a document.
func (s *Store) known(t *testing.T, servers ...string) {
	t.Helper()
	var in []message.ServerIntent
	for _, n := range servers {
		in = append(in, message.ServerIntent{Server: n})
	}
	d := message.RackDoc{Head: protocol.Head{Version: 1}, Shards: 1, Servers: in}
	if _, _, err := s.Documents.ApplyRack(d, "rack", func(message.ServerIntent) (*Credentials, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
}

func here(id, server, key, owner string) resource.ActiveHold {
	return resource.ActiveHold{ID: id, HoldSpec: resource.HoldSpec{Server: server, Owner: owner, HoldTerms: resource.HoldTerms{Key: key, Mode: resource.StopHard}}}
}

func TestHoldHere(t *testing.T) {
	s, _ := opened(t, t.TempDir())
	s.known(t, "n1")
	s.told(t, 1, 0, []resource.ActiveHold{{ID: "hub-1", HoldSpec: resource.HoldSpec{Server: "n2", Owner: "o", HoldTerms: resource.HoldTerms{Key: "k"}}}})
	long := here("x", "n1", "long", "local:ann")
	long.Reason = strings.Repeat("r", maxLocal)
	soft := here("x", "n1", "k", "local:ann")
	soft.Mode = resource.StopSoft
	reason := here("x", "n1", "k", "local:ann")
	reason.Reason = "another"
	for _, row := range []struct {
		name  string
		hold  resource.ActiveHold
		id    string
		fresh bool
		code  protocol.Code
	}{
		{"a new one", here("a", "n1", "k", "local:ann"), "a", true, ""},
		{"the same again", here("b", "n1", "k", "local:ann"), "a", false, ""},
		{"another mode", soft, "", false, protocol.CodeConflict},
		{"another reason", reason, "", false, protocol.CodeConflict},
		{"another owner", here("c", "n1", "k", "local:bob"), "c", true, ""},
		{"another key", here("d", "n1", "l", "local:ann"), "d", true, ""},
		{"a server that only a hold names", here("e", "n2", "k", "local:ann"), "e", true, ""},
		{"a server that nothing names", here("x", "n3", "k", "local:ann"), "", false, protocol.CodeNotFound},
		{"too much", long, "", false, protocol.CodeConflict},
	} {
		h, fresh, err := s.Local.Hold(tombstoneStart, row.hold)
		if protocol.CodeOf(err) != row.code || h.ID != row.id || fresh != row.fresh || err != nil && protocol.HintOf(err) == "" {
			t.Errorf("%s: %+v, %t, %v", row.name, h, fresh, err)
		}
		if err == nil && (!h.Local || h.Missing || !h.EnforcedAt.Equal(tombstoneStart)) {
			t.Errorf("%s: %+v", row.name, h)
		}
	}
	if b := s.backlog(t, 100); b.Head != 5 || b.Events[1].Code != resource.EventHoldEnforced || !strings.Contains(b.Events[1].Message, "local:ann") {
		t.Errorf("events %+v", b)
	}
	if _, err := s.Term.SetReplaced(true); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Local.Hold(tombstoneStart, here("f", "n1", "m", "local:ann")); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("at a replaced agent: %v", err)
	}
	if h, _, err := s.Local.Hold(tombstoneStart, here("f", "n1", "k", "local:ann")); err != nil || h.ID != "a" {
		t.Errorf("the same again at a replaced agent: %+v, %v", h, err)
	}
}

// TestHoldBecomesHard: a document makes a soft hold hard, in place and with an event; none makes a hard one soft.
func TestHoldBecomesHard(t *testing.T) {
	for _, stood := range []bool{false, true} {
		s := openMany(t, statetest.NewMemory(), nil)
		s.known(t, "n1")
		soft, hard := here("h", "n1", "k", "o"), here("h", "n1", "k", "o")
		soft.Mode, hard.Mode = resource.StopSoft, resource.StopHard
		longer := hard
		longer.TTL = protocol.Duration(time.Hour)
		for i, step := range []struct {
			hold    resource.ActiveHold
			mode    resource.StopMode
			missing bool
		}{
			{soft, resource.StopSoft, false},
			{longer, resource.StopSoft, true},
			{hard, resource.StopHard, false},
			{hard, resource.StopHard, false},
			{soft, resource.StopHard, true},
			{hard, resource.StopHard, false},
		} {
			d := message.HoldDoc{Head: protocol.Head{Version: uint64(i + 1)}, IssuedAt: tombstoneStart, Holds: []resource.ActiveHold{step.hold}, Standby: stood}
			if _, _, err := s.Documents.ApplyHolds(tombstoneStart.Add(time.Duration(i)*time.Second), d, string(rune('a'+i))); err != nil {
				t.Fatal(err)
			}
			v, err := s.Servers.View("n1")
			if err != nil || len(v.Holds) != 1 {
				t.Fatalf("step %d: %+v, %v", i, v.Holds, err)
			}
			if h := v.Holds[0]; h.Mode != step.mode || h.Missing != (step.missing && !stood) || h.TTL != 0 || !h.EnforcedAt.Equal(tombstoneStart) {
				t.Errorf("standing by %t, step %d: %+v", stood, i, h)
			}
		}
		var said []string
		for _, e := range s.backlog(t, 10).Events {
			if e.Code == resource.EventHoldEnforced {
				said = append(said, e.Message)
			}
		}
		want := []string{"hold h by o, soft", "hold h by o, hard"}
		if stood {
			want = nil // it copies
		}
		if !slices.Equal(said, want) {
			t.Errorf("standing by %t: events %q, want %q", stood, said, want)
		}
	}
}

// TestLocalBecomesHard: a soft hold that was placed here becomes hard as the same one, while the hub has not
// taken it over.
func TestLocalBecomesHard(t *testing.T) {
	s := openMany(t, statetest.NewMemory(), nil)
	s.known(t, "n1")
	soft, hard := here("a", "n1", "k", "local:ann"), here("b", "n1", "k", "local:ann")
	soft.Mode, hard.Mode = resource.StopSoft, resource.StopHard
	for i, step := range []struct {
		ask  resource.ActiveHold
		want protocol.Code
	}{{soft, ""}, {hard, ""}, {hard, ""}, {soft, protocol.CodeConflict}} {
		h, fresh, err := s.Local.Hold(tombstoneStart.Add(time.Duration(i)), step.ask)
		if protocol.CodeOf(err) != step.want || err == nil && (h.ID != "a" || h.Mode != step.ask.Mode || fresh != (i == 0) || !h.EnforcedAt.Equal(tombstoneStart)) {
			t.Errorf("step %d: %+v, fresh %t, %v", i, h, fresh, err)
		}
	}
	taken := soft
	taken.Mode = resource.StopSoft
	other := openMany(t, statetest.NewMemory(), nil)
	other.known(t, "n1")
	other.told(t, 1, 0, []resource.ActiveHold{taken})
	if _, _, err := other.Local.Hold(tombstoneStart, hard); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("the hub has it as soft: %v", err)
	}
}

// TestLocalIsAdopted: documents that do not name it leave a local hold as it is; the
// first that does ends Local, whatever else it says of it; then it is as the hub's.
func TestLocalIsAdopted(t *testing.T) {
	dir := t.TempDir()
	s, db := opened(t, dir)
	s.known(t, "n1")
	mine := here("a", "n1", "k", "local:ann")
	if _, _, err := s.Local.Hold(tombstoneStart, mine); err != nil {
		t.Fatal(err)
	}
	other := mine
	other.Mode, other.Owner = resource.StopSoft, "o"
	for i, step := range []struct {
		holds          []resource.ActiveHold
		local, missing bool
	}{
		{nil, true, false},
		{[]resource.ActiveHold{{ID: "hub-1", HoldSpec: resource.HoldSpec{Server: "n1", Owner: "o", HoldTerms: resource.HoldTerms{Key: "k"}}}}, true, false},
		{[]resource.ActiveHold{other}, true, false}, // the id with another content
		{[]resource.ActiveHold{mine}, false, false},
		{nil, false, true},
		{[]resource.ActiveHold{mine}, false, false},
	} {
		s.told(t, uint64(i+1), time.Duration(i)*time.Second, step.holds)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		s, db = opened(t, dir) // as it is after a restart
		v, err := s.Servers.View("n1")
		if err != nil || len(v.Holds) == 0 || v.Holds[0].ID != "a" {
			t.Fatalf("step %d: %+v, %v", i, v.Holds, err)
		}
		if h := v.Holds[0]; h.Local != step.local || h.Missing != step.missing || h.Mode != resource.StopHard || h.Owner != "local:ann" {
			t.Errorf("step %d: %+v", i, h)
		}
	}
	if h, fresh, err := s.Local.Hold(tombstoneStart, here("b", "n1", "k", "local:ann")); err != nil || fresh || h.ID != "a" {
		t.Errorf("the same again after the hub took it over: %+v, %t, %v", h, fresh, err)
	}
	s.told(t, 9, time.Minute, nil, resource.Release{HoldID: "a", Server: "n1", By: "o"})
	if held, err := s.Servers.Held("n1"); err != nil || !held { // by hub-1
		t.Errorf("held %t, %v", held, err)
	}
	if v, err := s.Servers.View("n1"); err != nil || len(v.Holds) != 1 || v.Holds[0].ID != "hub-1" {
		t.Errorf("%+v, %v", v.Holds, err)
	}
}

// TestReleaseRule compares the table of releaseRule, row by row.
func TestReleaseRule(t *testing.T) {
	for _, row := range []struct {
		owner, reason bool
		want          releaseVerdict
	}{
		{true, true, releaseOwn},
		{true, false, releaseOwn},
		{false, true, releaseBroken},
		{false, false, releaseDenied},
	} {
		if got := releaseRule(row.owner, row.reason); got != row.want {
			t.Errorf("%+v: %s", row, got)
		}
	}
}

func TestReleaseHere(t *testing.T) {
	s, _ := opened(t, t.TempDir())
	s.known(t, "n1")
	s.told(t, 1, 0, []resource.ActiveHold{{ID: "hub-1", HoldSpec: resource.HoldSpec{Server: "n1", Owner: "o", HoldTerms: resource.HoldTerms{Key: "k"}}}})
	for _, h := range []resource.ActiveHold{here("a", "n1", "k", "local:ann"), here("b", "n1", "k", "local:bob")} {
		if _, _, err := s.Local.Hold(tombstoneStart, h); err != nil {
			t.Fatal(err)
		}
	}
	later := tombstoneStart.Add(time.Minute)
	for _, row := range []struct {
		name, id, reason string
		code             protocol.Code
		by               string // of the release that is answered
	}{
		{"my own", "a", "", "", "local:ann"},
		{"my own again", "a", "", "", "local:ann"},
		{"somebody else's", "b", "", protocol.CodeDenied, ""},
		{"somebody else's, with a reason", "b", "it burns", "", "local:ann"},
		{"the hub's", "hub-1", "", protocol.CodeDenied, ""},
		{"the hub's, with a reason", "hub-1", "it burns", "", "local:ann"},
		{"the hub's again, without one", "hub-1", "", "", "local:ann"},
		{"nobody's", "c", "it burns", protocol.CodeNotFound, ""},
	} {
		r, err := s.Local.Release(later, row.id, "local:ann", row.reason)
		if protocol.CodeOf(err) != row.code || r.By != row.by || err != nil && protocol.HintOf(err) == "" {
			t.Errorf("%s: %+v, %v", row.name, r, err)
		}
	}
	s.wantHolds(t, nil, []string{"a", "b", "hub-1"})
	if _, dead, err := s.Local.Holds(); err != nil || len(dead) != 3 || dead[2].Reason != "it burns" {
		t.Errorf("%+v, %v", dead, err)
	}
	// The hub's document still names its hold, and one that it has adopted meanwhile.
	s.told(t, 2, 2*time.Minute, []resource.ActiveHold{{ID: "hub-1", HoldSpec: resource.HoldSpec{Server: "n1", Owner: "o", HoldTerms: resource.HoldTerms{Key: "k"}}}, here("b", "n1", "k", "local:bob")})
	s.wantHolds(t, nil, []string{"a", "b", "hub-1"})
	s.told(t, 3, 3*time.Minute, nil)
	s.wantHolds(t, nil, []string{"a"}) // no document has named it: one may yet
	// A new hold with the key of a released one is another hold.
	if h, fresh, err := s.Local.Hold(later, here("d", "n1", "k", "local:ann")); err != nil || !fresh || h.ID != "d" {
		t.Errorf("%+v, %t, %v", h, fresh, err)
	}
}

func TestConfirmHere(t *testing.T) {
	s, _ := opened(t, t.TempDir())
	s.told(t, 1, 0, []resource.ActiveHold{lying("hub-1")})
	for range 2 {
		h, err := s.Local.Confirm(tombstoneStart, "hub-1", "local:ann", "cables are out")
		if err != nil || h.ConfirmedDown == nil || h.ConfirmedDown.By != "local:ann" {
			t.Fatalf("%+v, %v", h, err)
		}
	}
	if h, err := s.Local.Confirm(tombstoneStart, "hub-1", "local:bob", "no"); err != nil || h.ConfirmedDown.By != "local:ann" {
		t.Errorf("%+v, %v", h, err)
	}
	s.told(t, 2, time.Minute, []resource.ActiveHold{lying("hub-1")}) // which says nothing of it
	if v, err := s.Servers.View("n1"); err != nil || len(v.Holds) != 1 || v.Holds[0].ConfirmedDown == nil || v.Holds[0].Missing {
		t.Errorf("%+v, %v", v.Holds, err)
	}
	if _, err := s.Local.Confirm(tombstoneStart, "x", "local:ann", "no"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("%v", err)
	}
	codes := []resource.EventCode{}
	for _, e := range s.backlog(t, 10).Events {
		codes = append(codes, e.Code)
	}
	if !slices.Equal(codes, []resource.EventCode{resource.EventHoldEnforced, resource.EventHoldConfirmed}) {
		t.Errorf("events %v", codes)
	}
}

// TestLocalStoreFails: nothing that cannot be written is answered as if it was.
func TestLocalStoreFails(t *testing.T) {
	s, db := opened(t, t.TempDir())
	s.known(t, "n1")
	if _, _, err := s.Local.Hold(tombstoneStart, here("a", "n1", "k", "local:ann")); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, _, err1 := s.Local.Hold(tombstoneStart, here("b", "n1", "l", "local:ann"))
	_, err2 := s.Local.Release(tombstoneStart, "a", "local:ann", "")
	_, err3 := s.Local.Confirm(tombstoneStart, "a", "local:ann", "r")
	for _, err := range []error{err1, err2, err3} {
		if protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Errorf("%v", err)
		}
	}
}
