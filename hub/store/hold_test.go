package store

import (
	"context"
	"strings"
	"testing"
	"time"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestCreateHoldIsIdempotent(t *testing.T) {
	mem := storetest.NewMemory()
	s := open(t, mem)
	apply(t, s, storetest.Site()...)
	asked := storetest.Hold("admin", "upgrade", "n1")
	first, err := s.Holds.Create(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	if id := first.Metadata.Name; id == "" || id != strings.ToLower(id) || asked.Metadata.Name != "" {
		t.Fatalf("id %q, input %q", id, asked.Metadata.Name)
	}
	s = open(t, mem) // as after a crash before the answer
	again, err := s.Holds.Create(t.Context(), asked)
	if err != nil || again.Metadata.Name != first.Metadata.Name || len(s.Holds.On("n1")) != 1 {
		t.Fatalf("%v, %v", again, err)
	}
	again.Spec.Reason, s.Holds.On("n1")[0].Spec.Reason = "changed", "changed"
	if kept := s.Holds.On("n1")[0]; kept.Spec.Reason != "" || kept.Metadata.Revision != first.Metadata.Revision {
		t.Fatalf("the mirror was changed through a copy: %+v", kept)
	}
	for name, row := range map[string]struct {
		hold *resource.Hold
		want protocol.Code
	}{
		"other body": {func() *resource.Hold {
			h := storetest.Hold("admin", "upgrade", "n1")
			h.Spec.TTL = protocol.Duration(time.Hour)
			return h
		}(), protocol.CodeConflict},
		"hard, other body": {func() *resource.Hold {
			h := storetest.Hold("admin", "upgrade", "n1")
			h.Spec.Mode, h.Spec.ForceDuringFirmware = resource.StopHard, true
			return h
		}(), protocol.CodeConflict},
		"other owner":  {storetest.Hold("somebody", "upgrade", "n1"), ""},
		"other server": {storetest.Hold("admin", "upgrade", "n2"), ""},
		"no server":    {storetest.Hold("admin", "upgrade", "n9"), protocol.CodeNotFound},
		"no key":       {storetest.Hold("admin", "", "n1"), protocol.CodeInvalid},
		"id in use": {func() *resource.Hold {
			h := storetest.Hold("x", "y", "n1")
			h.Metadata.Name = first.Metadata.Name
			return h
		}(), protocol.CodeConflict},
	} {
		_, err := s.Holds.Create(t.Context(), row.hold)
		if protocol.CodeOf(err) != row.want {
			t.Errorf("%s: %v, want code %q", name, err, row.want)
		}
	}
}

// TestHoldBecomesHard: a soft hold becomes hard as the hold that it is, and never soft again.
func TestHoldBecomesHard(t *testing.T) {
	s := open(t, storetest.NewMemory())
	apply(t, s, storetest.Site()...)
	create := func(mode resource.StopMode, reason, ref string) (*resource.Hold, error) {
		h := storetest.Hold("admin", "upgrade", "n1")
		h.Spec.Mode, h.Spec.Reason, h.Spec.Ref = mode, reason, ref
		return s.Holds.Create(t.Context(), h)
	}
	soft, err := create(resource.StopSoft, "disk", "7")
	if err != nil {
		t.Fatal(err)
	}
	hard, err := create(resource.StopHard, "", "")
	if err != nil || hard.Metadata.Name != soft.Metadata.Name || hard.Spec.Mode != resource.StopHard || hard.Spec.Reason != "disk" || hard.Spec.Ref != "7" {
		t.Fatalf("%+v, %v", hard, err)
	}
	for name, row := range map[string]struct {
		mode        resource.StopMode
		reason, ref string
		want        protocol.Code
	}{
		"the same":     {resource.StopHard, "disk", "7", ""},
		"soft again":   {resource.StopSoft, "disk", "7", protocol.CodeConflict},
		"other reason": {resource.StopHard, "fan", "7", protocol.CodeConflict},
		"other ref":    {resource.StopHard, "disk", "8", protocol.CodeConflict},
	} {
		got, err := create(row.mode, row.reason, row.ref)
		if protocol.CodeOf(err) != row.want {
			t.Errorf("%s: %v, want code %q", name, err, row.want)
		}
		if err == nil && got.Metadata.Revision != hard.Metadata.Revision {
			t.Errorf("%s: written again", name)
		}
	}
	if all := s.Holds.On("n1"); len(all) != 1 || all[0].Spec.Mode != resource.StopHard {
		t.Errorf("%+v", all)
	}
	if _, err := s.Holds.Release(t.Context(), soft.Metadata.Name, "admin", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := create(resource.StopHard, "disk", "7"); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("while it is being released: %v", err)
	}
}

func TestReleaseHold(t *testing.T) {
	s := open(t, storetest.NewMemory())
	apply(t, s, storetest.Site()...)
	asked := storetest.Hold("admin", "upgrade", "n1")
	hold, err := s.Holds.Create(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	released, err := s.Holds.Release(t.Context(), hold.Metadata.Name, "admin", "")
	if err != nil || released.Status.ReleasedAt == nil || released.Status.ReleasedBy != "admin" {
		t.Fatalf("%+v, %v", released, err)
	}
	again, err := s.Holds.Release(t.Context(), hold.Metadata.Name, "other", "")
	if err != nil || again.Status.ReleasedBy != "admin" || again.Metadata.Revision != released.Metadata.Revision {
		t.Fatalf("%+v, %v", again, err)
	}
	if len(s.Holds.On("n1")) != 0 {
		t.Error("a released hold still counts")
	}
	_, err = s.Holds.Create(t.Context(), asked)
	wantCode(t, err, protocol.CodeConflict)
	_, err = s.Delete(t.Context(), resource.KindServer, "n1")
	wantCode(t, err, protocol.CodeConflict) // the release has not reached the agent
	if err := s.Objects.Remove(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	_, err = s.Holds.Release(t.Context(), hold.Metadata.Name, "admin", "")
	wantCode(t, err, protocol.CodeNotFound)
	if _, err = s.Delete(t.Context(), resource.KindServer, "n1"); err != nil {
		t.Fatal(err)
	}
}

func TestDeleteNamesWhoRefers(t *testing.T) {
	s := open(t, storetest.NewMemory())
	apply(t, s, append(storetest.Site(), storetest.Claim("c1", "n1"))...)
	agent := &resource.Agent{Spec: resource.AgentSpec{RackRef: resource.Ref{Name: "r1"}, Key: make([]byte, 32)}}
	agent.Metadata.Name = "a1"
	if err := s.Objects.Put(t.Context(), agent); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		kind resource.Kind
		name string
		who  string
	}{
		{resource.KindRack, "r1", "Segment/boot"},
		{resource.KindRack, "r1", "Agent/a1"},
		{resource.KindSegment, "boot", "Server/n1, Server/n2"},
		{resource.KindBMC, "b1", "Server/n1"},
		{resource.KindServer, "n1", "Claim/c1"},
	} {
		_, err := s.Delete(t.Context(), row.kind, row.name)
		wantCode(t, err, protocol.CodeConflict)
		if !strings.Contains(err.Error(), row.who) {
			t.Errorf("%s %s: %v does not name %s", row.kind, row.name, err, row.who)
		}
	}
	// An agent that is gone for good must be deletable while its rack is in use.
	if _, err := s.Delete(t.Context(), resource.KindAgent, "a1"); err != nil {
		t.Error(err)
	}
	for _, kind := range []resource.Kind{resource.KindHold, resource.KindBootConfiguration} {
		_, err := s.Delete(t.Context(), kind, "x")
		wantCode(t, err, protocol.CodeUnsupported)
	}
	obj, err := s.Delete(t.Context(), resource.KindClaim, "c1")
	if err != nil || obj.Head().Metadata.DeletedAt == nil {
		t.Fatalf("%+v, %v", obj, err)
	}
	if _, err := Get[*resource.Claim](s.Objects, "c1"); err != nil {
		t.Fatal("the claim went before its server was proved Off")
	}
	_, err = s.Sets.Apply(t.Context(), []resource.Object{storetest.Claim("c1", "n2")}, ApplyOptions{})
	wantCode(t, err, protocol.CodeConflict)
	if err := s.Objects.Remove(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		kind resource.Kind
		name string
	}{
		{resource.KindServer, "n1"},
		{resource.KindServer, "n2"},
		{resource.KindBMC, "b1"},
		{resource.KindBMC, "b2"},
		{resource.KindSegment, "boot"},
		{resource.KindRack, "r1"},
	} {
		if _, err := s.Delete(t.Context(), row.kind, row.name); err != nil {
			t.Errorf("%s %s: %v", row.kind, row.name, err)
		}
	}
}

func TestWaitersHeedTheirDeadline(t *testing.T) {
	s := open(t, storetest.NewMemory())
	err := s.Objects.sets.pass(t.Context(), "test", true, func() error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err := s.Sets.Apply(ctx, storetest.Site(), ApplyOptions{})
		return err
	})
	wantCode(t, err, protocol.CodeTimeout)
}

func TestRequestsLedgerAndMeta(t *testing.T) {
	s := open(t, storetest.NewMemory())
	r := StoredRequest{Request: resource.Request{ID: "01a", Server: "n1"}, Rack: "r1"}
	wantCode(t, s.Requests.Put(t.Context(), r), protocol.CodeInvalid) // notAfter is mandatory
	r.NotAfter = time.Date(2026, 11, 20, 9, 10, 0, 0, time.UTC)
	if err := s.Requests.Put(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	wantCode(t, s.Requests.Put(t.Context(), r), protocol.CodeConflict)
	got, err := s.Requests.Get("01a")
	if err != nil || got.Server != "n1" || got.Revision == 0 || len(s.Requests.List()) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if err := s.Requests.Remove(t.Context(), "01a"); err != nil {
		t.Fatal(err)
	}
	_, err = s.Requests.Get("01a")
	wantCode(t, err, protocol.CodeNotFound)

	l, err := s.Ledgers.Get("a1")
	if err != nil || l.Revision != 0 {
		t.Fatal(err)
	}
	l.Sent["hold"] = SentDoc{Head: protocol.Head{Epoch: 1, Version: 2}, Body: []byte("x"), Digest: "d"}
	if err := s.Ledgers.Put(t.Context(), &l); err != nil {
		t.Fatal(err)
	}
	if back, _ := s.Ledgers.Get("a1"); string(back.Sent["hold"].Body) != "x" || back.Revision != l.Revision {
		t.Fatalf("%+v", back)
	}
	l.Revision = 0
	wantCode(t, s.Ledgers.Put(t.Context(), &l), protocol.CodeConflict)

	if _, _, err := s.Meta.Get("epoch"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Fatal(err)
	}
	if err := s.Meta.Put(t.Context(), "epoch", []byte("1"), 0); err != nil {
		t.Fatal(err)
	}
	v, rev, err := s.Meta.Get("epoch")
	if err != nil || string(v) != "1" {
		t.Fatal(err)
	}
	wantCode(t, s.Meta.Put(t.Context(), "epoch", v, rev+1), protocol.CodeConflict)
	wantCode(t, s.Meta.Put(t.Context(), "a.b", v, 0), protocol.CodeInvalid)

	if _, err := s.Log.Append(t.Context(), "receipt", []byte("r"), "id"); err != nil {
		t.Fatal(err)
	}
	if recs, err := s.Log.Read(t.Context(), "receipt", 1, 10); err != nil || len(recs) != 1 {
		t.Fatalf("%v, %v", recs, err)
	}
}
