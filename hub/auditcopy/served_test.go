package auditcopy

import (
	"bytes"
	"log/slog"
	"testing"

	"rackboot/hub/broker"
	"rackboot/protocol/api"
	"rackboot/protocol/auditlog"
	"rackboot/state/jetstream"
)

// newServedSite is a site on a stream of a server.
func newServedSite(t *testing.T) *site {
	t.Helper()
	b, err := broker.Open(broker.Config{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	conn, err := b.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t)
	s.served, err = jetstream.OpenJournal(t.Context(), jetstream.Config{Conn: conn, Name: "rackboot-audit", Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The same on a server: two hubs, one of which ends with its disk, and comes back without it.
func TestServed(t *testing.T) {
	t.Parallel()
	s := newServedSite(t)
	a, b := s.hub("a"), s.hub("b")
	for range 5 {
		a.add(8)
		b.add(5)
	}
	b.isCopied()
	b.end()
	a.knows(b)
	want, _ := b.log.Head()
	for range 2 {
		var out bytes.Buffer
		if err := a.export(&out); err != nil {
			t.Fatal(err)
		}
		e, err := auditlog.ReadExport(&out, keys())
		if err != nil || len(e.Logs) != 2 || e.Logs[1].Last < want || e.Heads < 3 || len(e.Unchecked) != 0 {
			t.Fatalf("%+v, %v", e, err)
		}
		own, _ := a.log.Head()
		for _, limit := range []int{3, 1000} {
			if got := listed(t, a.Room, api.AuditQuery{Limit: limit}, every); len(got) != int(e.Logs[1].Last+own) {
				t.Errorf("%d entries are listed, of %d and %d", len(got), own, e.Logs[1].Last)
			}
		}
		if got := listed(t, a.Room, api.AuditQuery{Limit: 7, Hub: "b", From: 11}, every); len(got) != int(e.Logs[1].Last)-10 {
			t.Errorf("%d entries of b from the eleventh on, of %d", len(got), e.Logs[1].Last)
		}
		b = s.hub("b")
		b.add(2)
		b.isCopied()
	}
}

// Two programs under one name: the one that wrote less late finds that the other was before, and writes nothing over.
func TestTwoUnderOneName(t *testing.T) {
	t.Parallel()
	s := newServedSite(t)
	a := s.hub("a")
	a.add(3)
	a.isCopied()
	second := s.hub("a") // with another folder
	second.add(3)
	second.isCopied()
	a.add(3)
	s.until("it is noticed", func() bool { return a.Wrong() != nil })
	if wrong := a.Wrong(); wrong.Fault != auditlog.Forked {
		t.Errorf("%v", wrong)
	}
	second.add(3)
	second.isCopied()
	if wrong := second.Wrong(); wrong != nil {
		t.Errorf("the second: %v", wrong)
	}
	var out bytes.Buffer
	if err := second.export(&out); err != nil {
		t.Fatal(err)
	}
	if e, err := auditlog.ReadExport(&out, keys()); err != nil || len(e.Logs) != 1 || len(e.Logs[0].Notes) != 1 {
		t.Errorf("%+v, %v", e, err)
	}
}
