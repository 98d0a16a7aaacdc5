package store

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func asked(id, server, by, ref string) StoredRequest {
	r := StoredRequest{Rack: "r1", Request: resource.Request{
		ID: id, Server: server, Action: resource.RequestReboot, Mode: resource.StopSoft, By: by, Ref: ref,
		NotAfter: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC),
	}}
	r.Report = resource.RequestReport{ID: id, Outcome: resource.OutcomePending}
	return r
}

func TestCreateRequestByRef(t *testing.T) {
	s := open(t, storetest.NewMemory())
	if _, err := s.Requests.Create(t.Context(), asked("q1", "n1", "admin", "uid-7")); err != nil {
		t.Fatal(err)
	}
	other := asked("q6", "n1", "admin", "uid-7")
	other.Action = resource.RequestPowerOff
	for _, row := range []struct {
		name string
		ask  StoredRequest
		want string
	}{
		{"the same", asked("q2", "n1", "admin", "uid-7"), "q1"},
		{"another ref", asked("q3", "n1", "admin", "uid-8"), "q3"},
		{"another caller", asked("q4", "n1", "ha", "uid-7"), "q4"},
		{"another server", asked("q5", "n2", "admin", "uid-7"), "q5"},
		{"another action", other, "q6"},
		{"no ref", asked("q7", "n1", "admin", ""), "q7"},
		{"no ref again", asked("q8", "n1", "admin", ""), "q8"},
	} {
		if got, err := s.Requests.Create(t.Context(), row.ask); err != nil || got.ID != row.want {
			t.Errorf("%s: %s, %v, want %s", row.name, got.ID, err, row.want)
		}
	}
	q, err := s.Requests.Get("q1")
	if err != nil {
		t.Fatal(err)
	}
	q.Report.Outcome = resource.OutcomeDone
	if err := s.Requests.Put(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Requests.Create(t.Context(), asked("q9", "n1", "admin", "uid-7")); err != nil || got.ID != "q9" {
		t.Errorf("once it has ended: %s, %v", got.ID, err)
	}
	_, err = s.Requests.Create(t.Context(), asked("qx", "n1", "admin", strings.Repeat("x", 1025)))
	wantCode(t, err, protocol.CodeInvalid)
}

// Requests have room of their own: however many wait, a server is still held.
func TestRequestsKeepNoHoldOut(t *testing.T) {
	s := open(t, storetest.NewMemory())
	apply(t, s, storetest.Site()...)
	long := strings.Repeat("r", 1024)
	n := 0
	for ; ; n++ {
		q := asked(fmt.Sprintf("q%d", n), fmt.Sprintf("n%d", n/maxOpen+1), "admin", fmt.Sprintf("%d", n)+long[10:])
		q.Rack = "r1"
		if _, err := s.Requests.Create(t.Context(), q); err != nil {
			wantCode(t, err, protocol.CodeConflict)
			break
		}
	}
	if n >= maxOpen {
		t.Errorf("%d long requests fit", n)
	}
	if _, err := s.Holds.Create(t.Context(), storetest.Hold("admin", "k", "n1")); err != nil {
		t.Errorf("no room for a hold: %v", err)
	}
}

// What waits behind a hold is bounded, by server and by rack.
func TestRequestsAndHoldsAreBounded(t *testing.T) {
	s := open(t, storetest.NewMemory())
	apply(t, s, storetest.Site()...)
	for n := range maxOpen {
		if _, err := s.Requests.Create(t.Context(), asked(fmt.Sprintf("q%d", n), "n1", "admin", "")); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Requests.Create(t.Context(), asked("more", "n1", "admin", ""))
	wantCode(t, err, protocol.CodeConflict)
	if _, err := s.Requests.Create(t.Context(), asked("elsewhere", "n2", "admin", "")); err != nil {
		t.Error(err)
	}
	holds := 0
	for ; ; holds++ {
		h := storetest.Hold("admin", fmt.Sprintf("k%d", holds), "n1")
		h.Spec.Ref, h.Spec.Reason = strings.Repeat("r", 1024), strings.Repeat("r", 1024)
		if _, err = s.Holds.Create(t.Context(), h); err != nil {
			break
		}
	}
	wantCode(t, err, protocol.CodeConflict)
	if holds < 30 || holds > 50 || protocol.HintOf(err) == "" {
		t.Errorf("%d long holds fit: %v", holds, err)
	}
	again := storetest.Hold("admin", "k0", "n1")
	again.Spec.Ref, again.Spec.Reason = strings.Repeat("r", 1024), strings.Repeat("r", 1024)
	if _, err := s.Holds.Create(t.Context(), again); err != nil {
		t.Errorf("the same again needs no room: %v", err)
	}
}
