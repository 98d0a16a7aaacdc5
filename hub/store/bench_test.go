package store

import (
	"fmt"
	"testing"
	"time"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
)

// fleetStore is a store with n servers in one rack.
func fleetStore(b *testing.B, n int) *Store {
	b.Helper()
	mem := storetest.NewMemory()
	id := 0
	s, err := Open(b.Context(), Config{KV: mem, Log: mem, Clock: time.Now, NewID: func() string { id++; return fmt.Sprintf("01b%d", id) }})
	if err != nil {
		b.Fatal(err)
	}
	set := []protocol.Object{storetest.Rack("r1"), storetest.Segment("boot", "r1")}
	for i := range n {
		bmc := fmt.Sprintf("b%d", i)
		set = append(set, storetest.BMC(bmc, "r1"),
			storetest.Server(fmt.Sprintf("n%d", i), bmc, "boot", fmt.Sprintf("52:54:00:00:%02x:%02x", i/256, i%256)))
	}
	if _, err := s.Apply(b.Context(), set, ApplyOptions{}); err != nil {
		b.Fatal(err)
	}
	return s
}

func BenchmarkListServers(b *testing.B) {
	s := fleetStore(b, 1000)
	for b.Loop() {
		if len(List[*protocol.Server](s)) != 1000 {
			b.Fatal("servers are missing")
		}
	}
}

// BenchmarkCreateHold places holds on a fleet in which 1000 lie already.
func BenchmarkCreateHold(b *testing.B) {
	s := fleetStore(b, 1000)
	for i := range 1000 {
		if _, err := s.CreateHold(b.Context(), storetest.Hold("admin", "old", fmt.Sprintf("n%d", i))); err != nil {
			b.Fatal(err)
		}
	}
	i := 0
	for b.Loop() {
		i++
		h, err := s.CreateHold(b.Context(), storetest.Hold("admin", fmt.Sprintf("k%d", i), "n1"))
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Remove(b.Context(), h); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkApplyOneServer(b *testing.B) {
	s := fleetStore(b, 1000)
	for b.Loop() {
		if _, err := s.Apply(b.Context(), []protocol.Object{storetest.Server("n1", "b1", "boot", "52:54:00:00:00:01")}, ApplyOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
