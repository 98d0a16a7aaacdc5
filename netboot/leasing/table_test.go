package leasing

import (
	"net/netip"
	"slices"
	"testing"
	"time"
)

// TestFree: which address a client gets of those that it may have.
func TestFree(t *testing.T) {
	now := time.Unix(1000, 0)
	at := func(s string) netip.Addr { return netip.MustParseAddr(s) }
	table := NewTable[struct{}]()
	for _, b := range []Binding[struct{}]{
		{Addr: at("10.0.0.1"), State: Leased, Expires: now.Add(time.Hour)},
		{Addr: at("10.0.0.2"), State: Leased, Expires: now.Add(-time.Hour)},
		{Addr: at("10.0.0.3"), State: Released, Expires: now, Guest: true},
		{Addr: at("10.0.0.4"), State: Declined, Expires: now.Add(2 * time.Minute)},
		{Addr: at("10.0.0.5"), State: Declined, Expires: now.Add(time.Minute)},
		{Addr: at("10.0.0.6"), State: Declined, Expires: now},
		{Addr: at("10.0.0.7"), State: Leaving, Expires: now.Add(time.Minute)},
	} {
		table.ByAddr[b.Addr] = &b
	}
	for _, row := range []struct {
		name          string
		candidates    []string
		guest, rested bool
		want          string
	}{
		{"nobody's first", []string{"10.0.0.2", "10.0.0.8", "10.0.0.9"}, false, true, "10.0.0.8"},
		{"a guest's before ours", []string{"10.0.0.2", "10.0.0.3"}, false, true, "10.0.0.3"},
		{"the one that is free for longest", []string{"10.0.0.6", "10.0.0.2"}, false, true, "10.0.0.2"},
		{"ours, to a machine of ours", []string{"10.0.0.1", "10.0.0.2"}, false, true, "10.0.0.2"},
		{"ours, not to a guest", []string{"10.0.0.1", "10.0.0.2"}, true, false, ""},
		{"one that has rested, to a guest", []string{"10.0.0.6"}, true, false, "10.0.0.6"},
		{"the one that has rested for longest", []string{"10.0.0.4", "10.0.0.5", "10.0.0.1"}, false, true, "10.0.0.5"},
		{"one that rests, not to who may not", []string{"10.0.0.4"}, false, false, ""},
		{"taken and leaving", []string{"10.0.0.1", "10.0.0.7"}, false, true, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			var all []netip.Addr
			for _, c := range row.candidates {
				all = append(all, at(c))
			}
			got, ok := table.Free(slices.Values(all), row.guest, row.rested, now)
			if ok != (row.want != "") || ok && got != at(row.want) {
				t.Errorf("%s %t, want %q", got, ok, row.want)
			}
		})
	}
}
