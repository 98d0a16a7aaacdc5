package server

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/state/badger"
)

// TestKeepImage: the last report and the last inventory survive the agent, and the same
// again costs no write.
func TestKeepImage(t *testing.T) {
	db, err := badger.Open(badger.Config{Dir: t.TempDir(), MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	st, err := store.Open(store.Config{DB: db, NewID: func() string { return "1nca" }})
	if err != nil {
		t.Fatal(err)
	}
	s, now := newImages(st.Images, slog.New(slog.DiscardHandler), "n1"), hubStart
	if s.report() != nil {
		t.Fatal("there is a report")
	}
	for _, row := range []struct {
		r       protocol.ProbeReport
		owner   string
		written bool
	}{
		{protocol.ProbeReport{State: protocol.ProbeDiscovered, Inventory: &protocol.HostInventory{MemoryBytes: 1}}, "one", true},
		{protocol.ProbeReport{State: protocol.ProbeDiscovered, Inventory: &protocol.HostInventory{MemoryBytes: 1}}, "one", false},
		{protocol.ProbeReport{State: protocol.ProbeInstalled}, "one", true},
		{protocol.ProbeReport{State: protocol.ProbeInstalled}, "two", true}, // the same of another's boot
		{protocol.ProbeReport{State: protocol.ProbeInstalled}, "two", false},
	} {
		now = now.Add(time.Second)
		before := s.last
		if err := s.keep(row.r, row.owner, now); err != nil {
			t.Fatal(err)
		}
		if got := s.last != before; got != row.written {
			t.Errorf("%+v: written %t", row.r, got)
		}
	}
	got := newImages(st.Images, slog.New(slog.DiscardHandler), "n1").report()
	if got == nil || got.State != protocol.ProbeInstalled || got.Inventory == nil || !got.InventoryAt.Equal(hubStart.Add(time.Second)) || !got.At.Equal(hubStart.Add(4*time.Second)) || got.OwnerUID != "two" {
		t.Errorf("after a restart: %+v", got)
	}
}

// TestImageFlood: whoever has the token cannot wear out the disk.
func TestImageFlood(t *testing.T) {
	db, err := badger.Open(badger.Config{Dir: t.TempDir(), MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	st, err := store.Open(store.Config{DB: db, NewID: func() string { return "1nca" }})
	if err != nil {
		t.Fatal(err)
	}
	s := newImages(st.Images, slog.New(slog.DiscardHandler), "n1")
	written := 0
	for i := range 600 { // a minute
		err := s.keep(protocol.ProbeReport{State: protocol.ProbeBooted, Message: fmt.Sprint(i)}, "one", hubStart.Add(time.Duration(i)*100*time.Millisecond))
		if err == nil {
			written++
		} else if protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Fatal(err)
		}
	}
	if written != imageBurst+11 {
		t.Errorf("%d of 600 reports were written", written)
	}
}
