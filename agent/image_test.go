package agent

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state/badger"
)

func imaged(i, bytes int, digest string) resource.ServerReport {
	s := numbered(i)
	s.Image = &protocol.ImageReport{State: protocol.ProbeDiscovered, Digest: digest, Bytes: bytes, Inventory: &protocol.HostInventory{MemoryBytes: 1}}
	return s
}

// carried are the servers whose inventory a report has.
func carried(t *testing.T, v *inventories, servers []resource.ServerReport) (out []string, bytes int) {
	t.Helper()
	said := append([]resource.ServerReport(nil), servers...)
	v.carry(said)
	for i, s := range said {
		if s.Image == nil {
			continue
		}
		if s.Image.Digest != servers[i].Image.Digest {
			t.Errorf("%s: the digest is gone", s.Server)
		}
		if s.Image.Inventory != nil {
			out, bytes = append(out, s.Server), bytes+s.Image.Bytes
		}
		if servers[i].Image.Inventory == nil {
			t.Fatalf("%s: the agent's own was taken away", s.Server)
		}
	}
	return out, bytes
}

func TestInventoriesInReports(t *testing.T) {
	var v inventories
	var servers []resource.ServerReport
	for i := range 20 {
		servers = append(servers, imaged(i, 4<<10, "a"))
	}
	servers = append(servers, numbered(90), imaged(99, protocol.MaxReportedInventory+1, "a"))
	seen := map[string]bool{}
	for i, want := range []int{8, 8, 5, 1, 1} {
		got, bytes := carried(t, &v, servers)
		if len(got) != want || bytes > inventoryBudget {
			t.Errorf("report %d: %v, %d bytes, want %d", i, got, bytes, want)
		}
		for _, s := range got {
			seen[s] = true
		}
	}
	if len(seen) != 20 || seen["n099"] {
		t.Errorf("sent: %v", seen)
	}
	servers[3] = imaged(3, 4<<10, "b")
	if got, _ := carried(t, &v, servers); len(got) < 1 || got[0] != "n003" && got[len(got)-1] != "n003" {
		t.Errorf("after a change: %v", got)
	}
	turns := map[string]bool{}
	for range 20 {
		got, _ := carried(t, &v, servers)
		turns[fmt.Sprint(got)] = true
	}
	if len(turns) != 20 {
		t.Errorf("repeated: %v", turns)
	}
}

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
	a := &Agent{store: st, log: slog.New(slog.DiscardHandler)}
	s, now := newServer(a, "n1"), hubStart
	if s.imageReport() != nil {
		t.Fatal("there is a report")
	}
	for _, row := range []struct {
		r       protocol.ProbeReport
		written bool
	}{
		{protocol.ProbeReport{State: protocol.ProbeDiscovered, Inventory: &protocol.HostInventory{MemoryBytes: 1}}, true},
		{protocol.ProbeReport{State: protocol.ProbeDiscovered, Inventory: &protocol.HostInventory{MemoryBytes: 1}}, false},
		{protocol.ProbeReport{State: protocol.ProbeInstalled}, true},
		{protocol.ProbeReport{State: protocol.ProbeInstalled}, false},
	} {
		now = now.Add(time.Second)
		before := s.image
		if err := s.keepImage(row.r, now); err != nil {
			t.Fatal(err)
		}
		if got := s.image != before; got != row.written {
			t.Errorf("%+v: written %t", row.r, got)
		}
	}
	got := newServer(a, "n1").imageReport()
	if got == nil || got.State != protocol.ProbeInstalled || got.Inventory == nil || !got.InventoryAt.Equal(hubStart.Add(time.Second)) || !got.At.Equal(hubStart.Add(3*time.Second)) {
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
	s := newServer(&Agent{store: st, log: slog.New(slog.DiscardHandler)}, "n1")
	written := 0
	for i := range 600 { // a minute
		err := s.keepImage(protocol.ProbeReport{State: protocol.ProbeBooted, Message: fmt.Sprint(i)}, hubStart.Add(time.Duration(i)*100*time.Millisecond))
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
