package store

import (
	"cmp"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rackboot/netboot"
)

// TestLeases: leases of IPv4 and of IPv6 are there after a restart, each by segment
// and address, whichever was written last, and neither is found among the others.
func TestLeases(t *testing.T) {
	at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	four := func(segment, a string) netboot.Lease {
		return netboot.Lease{Segment: segment, Address: netip.MustParseAddr(a), MAC: "02:00:00:00:00:01", Server: "one", Expires: at}
	}
	six := func(segment, a string) netboot.Lease6 {
		return netboot.Lease6{Segment: segment, Address: netip.MustParseAddr(a), Client: "02:00:00:00:00:01", MAC: "02:00:00:00:00:01", Expires: at, Declined: true}
	}
	dir := t.TempDir()
	s, db := opened(t, dir)
	var writers sync.WaitGroup
	for _, write := range []func() error{
		func() error { return s.Leases4.Put(t.Context(), four("a", "10.7.0.1")) },
		func() error { return s.Leases4.Put(t.Context(), four("a6", "10.7.0.2")) },
		func() error { return s.Leases6.Put(t.Context(), six("a", "2001:db8::1")) },
		func() error { return s.Leases6.Put(t.Context(), six("a", "2001:db8::2")) },
		func() error { return s.Leases6.Put(t.Context(), six("b", "2001:db8::1")) },
	} {
		writers.Go(func() {
			if err := write(); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	if err := s.Leases4.Put(t.Context(), four("c", "10.7.0.1"), four("c", "10.7.0.2"), four("c", "10.7.0.1")); err != nil { // by one call
		t.Fatal(err)
	}
	last := six("a", "2001:db8::1")
	last.Client, last.MAC, last.Declined = "uuid:4c4c4544-0031-3510-8031-b4c04f435331", "", false
	for range 2 {
		if err := s.Leases6.Put(t.Context(), last); err != nil {
			t.Fatal(err)
		}
		if err := s.Leases6.Delete(t.Context(), six("a", "2001:db8::2")); err != nil { // also what is gone
			t.Fatal(err)
		}
	}
	if err := s.Leases4.Delete(t.Context(), four("a6", "10.7.0.2")); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s, _ = opened(t, dir)
	for segment, want := range map[string]struct {
		four []netboot.Lease
		six  []netboot.Lease6
	}{
		"a":  {[]netboot.Lease{four("a", "10.7.0.1")}, []netboot.Lease6{last}},
		"b":  {nil, []netboot.Lease6{six("b", "2001:db8::1")}},
		"a6": {},
		"c":  {[]netboot.Lease{four("c", "10.7.0.1"), four("c", "10.7.0.2")}, nil},
		"":   {},
	} {
		got, err := s.Leases4.Load(segment)
		if err != nil {
			t.Fatal(err)
		}
		got6, err := s.Leases6.Load(segment)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(got6, func(a, b netboot.Lease6) int { return cmp.Compare(a.Address.String(), b.Address.String()) })
		same := cmpopts.EquateComparable(netip.Addr{})
		if diff := gocmp.Diff(want.four, got, same); diff != "" {
			t.Errorf("segment %q: %s", segment, diff)
		}
		if diff := gocmp.Diff(want.six, got6, same); diff != "" {
			t.Errorf("segment %q: %s", segment, diff)
		}
	}
}
