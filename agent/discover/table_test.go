package discover

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"rackboot/netboot"
	"rackboot/protocol/resource"
)

// dawn is when the tests of the table begin.
func dawn() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func rooted(addr string, at time.Time) answer {
	return answer{
		addr: netip.MustParseAddr(addr), asked: at, result: resultRoot, fingerprint: "sha256:01",
		root: root{vendor: "Contoso", redfish: "1.17.0"},
	}
}

// TestTableLeases: who is at which address, by the leases.
func TestTableLeases(t *testing.T) {
	now, hour := dawn(), dawn().Add(time.Hour)
	server := leased(mac1, "10.7.0.101", hour)
	server.Server = "s1"
	other := leased(mac2, "10.7.0.101", hour.Add(time.Minute))
	other.Server = "s1"
	declined := leased(mac1, "10.7.0.101", hour)
	declined.Declined = true
	elsewhere := leased(mac1, "10.8.0.101", hour)
	for _, row := range []struct {
		name   string
		leases []netboot.Lease
		want   string
	}{
		{"one", []netboot.Lease{leased(mac1, "10.7.0.101", hour)}, mac1 + " at https://10.7.0.101;"},
		{"two", []netboot.Lease{leased(mac1, "10.7.0.102", hour), leased(mac2, "10.7.0.101", hour)}, mac2 + " at https://10.7.0.101;" + mac1 + " at https://10.7.0.102;"},
		{"it moves", []netboot.Lease{leased(mac1, "10.7.0.101", hour), leased(mac1, "10.7.0.102", hour)}, mac1 + " at https://10.7.0.102;"},
		{"an older lease does not move it back", []netboot.Lease{leased(mac1, "10.7.0.102", hour), leased(mac1, "10.7.0.101", hour.Add(-time.Minute))}, mac1 + " at https://10.7.0.102;"},
		{"another BMC gets its address", []netboot.Lease{leased(mac1, "10.7.0.101", hour), leased(mac2, "10.7.0.101", hour)}, mac2 + " at https://10.7.0.101;"},
		{"a server gets its address", []netboot.Lease{leased(mac1, "10.7.0.101", hour), other}, ""},
		{"it is a server after all", []netboot.Lease{leased(mac1, "10.7.0.101", hour), server}, ""},
		{"ended", []netboot.Lease{leased(mac1, "10.7.0.101", now)}, ""},
		{"declined", []netboot.Lease{declined}, ""},
		{"of another maker", []netboot.Lease{leased("52:54:00:00:00:01", "10.7.0.101", hour)}, ""},
		{"outside the segment", []netboot.Lease{elsewhere}, ""},
		{"the agent's own address", []netboot.Lease{leased(mac1, "10.7.0.1", hour)}, ""},
	} {
		tab := table{}
		for _, l := range row.leases {
			tab.leased(segment(), l, now)
		}
		got := ""
		for _, b := range tab.found() {
			got += b.MAC + " at " + b.Address + ";"
			if b.By != resource.FoundByLease || b.Segment != "bmcs" || !b.At.Equal(now) && len(row.leases) == 1 {
				t.Errorf("%s: %+v", row.name, b)
			}
		}
		if got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
}

// TestTableAnswers: an answer is of who had the address when it was asked for.
func TestTableAnswers(t *testing.T) {
	now, seg := dawn(), segment()
	seg.Scan = prefixes("10.7.0.0/28")
	tab := table{}
	tab.leased(seg, leased(mac1, "10.7.0.101", now.Add(time.Hour)), now)
	tab.answered(seg, rooted("10.7.0.101", now), now)
	if b := tab.found()[0]; b.Fingerprint != "sha256:01" || b.Vendor != "Contoso" || b.Redfish != "1.17.0" || b.Problem != "" {
		t.Errorf("read: %+v", b)
	}
	if changed, _ := tab.answered(seg, rooted("10.7.0.101", now), now.Add(time.Hour)); changed {
		t.Error("the same answer is news")
	}
	tab.answered(seg, answer{addr: netip.MustParseAddr("10.7.0.101"), asked: now}.failed(resultTimeout, "gone"), now.Add(2*time.Hour))
	if b := tab.found()[0]; b.Vendor != "Contoso" || b.Problem != "gone" || !b.At.Equal(now.Add(time.Hour)) {
		t.Errorf("not read again: %+v", b)
	}
	// Another BMC gets the address while it is being asked.
	tab.leased(seg, leased(mac2, "10.7.0.101", now.Add(9*time.Hour)), now.Add(3*time.Hour))
	tab.answered(seg, rooted("10.7.0.101", now.Add(3*time.Hour-time.Second)), now.Add(3*time.Hour))
	if b := tab.found()[0]; b.MAC != mac2 || b.Fingerprint != "" {
		t.Errorf("it has the answer of another: %+v", b)
	}
	for addr, want := range map[string]int{"10.7.0.5": 2, "10.7.0.55": 2, "10.7.0.1": 2} { // scanned, not listed, the agent
		if tab.answered(seg, rooted(addr, now), now); len(tab) > want {
			t.Errorf("after %s: %d", addr, len(tab))
		}
	}
	tab.answered(seg, answer{addr: netip.MustParseAddr("10.7.0.6"), fingerprint: "sha256:02"}.failed(resultOther, "a web server"), now)
	if found := tab.found(); len(found) != 2 || found[0].Address != "https://10.7.0.5" || found[0].By != resource.FoundByScan {
		t.Errorf("found %+v", found)
	}
	// One that was scanned asks for a lease of the same address.
	tab.leased(seg, leased(mac1, "10.7.0.5", now.Add(9*time.Hour)), now)
	if found := tab.found(); len(found) != 2 || found[0].By != resource.FoundByLease || found[0].MAC != mac1 {
		t.Errorf("found %+v", found)
	}
}

// TestTableIsBounded: no more than MaxFound, and who was accepted by its MAC address
// is never crowded out by those that anybody can invent.
func TestTableIsBounded(t *testing.T) {
	now, seg := dawn(), segment()
	seg.Prefix = netip.MustParsePrefix("10.7.0.0/16")
	seg.BMCMACs = []string{"aa:bb:cc:00:00:01"}
	tab := table{}
	for i := range MaxFound + 1 {
		l := leased(fmt.Sprintf("3c:ec:ef:00:%02x:%02x", i>>8, i&255), fmt.Sprintf("10.7.%d.%d", 1+i>>8, i&255), now.Add(time.Hour+time.Duration(i-MaxFound-1)*time.Second))
		if _, full := tab.leased(seg, l, now); full != (i == MaxFound) {
			t.Fatalf("the %d. is refused: %v", i+1, full)
		}
	}
	if _, full := tab.leased(seg, leased("aa:bb:cc:00:00:01", "10.7.9.9", now.Add(time.Hour)), now); full {
		t.Error("an accepted BMC is refused")
	}
	if tab["aa:bb:cc:00:00:01"] == nil || tab["3c:ec:ef:00:00:00"] != nil || len(tab.found()) != MaxFound {
		t.Errorf("%d were kept", len(tab))
	}
	for i := range MaxFound - 1 {
		seg.BMCMACs = append(seg.BMCMACs, fmt.Sprintf("3c:ec:ef:00:%02x:%02x", (i+1)>>8, (i+1)&255))
	}
	seg.BMCMACs = append(seg.BMCMACs, "aa:bb:cc:00:00:02")
	if _, full := tab.leased(seg, leased("aa:bb:cc:00:00:02", "10.7.9.10", now.Add(time.Hour)), now); !full || len(tab) != MaxFound {
		t.Errorf("%d accepted ones are kept", len(tab))
	}
	seg.Scan = prefixes("10.7.10.0/24")
	if _, full := tab.answered(seg, rooted("10.7.10.1", now), now); !full || len(tab) != MaxFound {
		t.Error("a scanned one is kept")
	}
}

// TestTableForgets: what has no lease is kept for a day after it was seen.
func TestTableForgets(t *testing.T) {
	now, seg := dawn(), segment()
	seg.Scan = prefixes("10.7.0.5/32")
	tab := table{}
	tab.leased(seg, leased(mac1, "10.7.0.101", now.Add(48*time.Hour)), now)
	tab.answered(seg, rooted("10.7.0.5", now), now)
	for _, step := range []struct {
		after time.Duration
		left  int
	}{{keepFor - 1, 2}, {keepFor, 1}, {48*time.Hour + keepFor - 1, 1}, {48*time.Hour + keepFor, 0}} {
		if changed := tab.expire(now.Add(step.after)); len(tab) != step.left || changed != (step.after%time.Second == 0) {
			t.Errorf("after %s: %d", step.after, len(tab))
		}
	}
}

// TestTableKeeps: what is found is of the rules of now.
func TestTableKeeps(t *testing.T) {
	now := dawn()
	for _, row := range []struct {
		name   string
		change func(*resource.SegmentIntent)
		left   int
	}{
		{"nothing", func(*resource.SegmentIntent) {}, 2},
		{"role both", func(s *resource.SegmentIntent) { s.Role = resource.SegmentBoth }, 2},
		{"role boot", func(s *resource.SegmentIntent) { s.Role = resource.SegmentBoot }, 0},
		{"no MAC prefix", func(s *resource.SegmentIntent) { s.BMCPrefixes = nil }, 1},
		{"accepted, and no MAC prefix", func(s *resource.SegmentIntent) { s.BMCPrefixes, s.BMCMACs = nil, []string{mac1} }, 2},
		{"no scan", func(s *resource.SegmentIntent) { s.Scan = nil }, 1},
		{"another prefix", func(s *resource.SegmentIntent) { s.Prefix = netip.MustParsePrefix("10.8.0.0/24") }, 0},
		{"another name", func(s *resource.SegmentIntent) { s.Name = "others" }, 0},
	} {
		f, err := New(Config{Leases: &memLeases{}, Clock: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		seg := segment()
		seg.Scan = prefixes("10.7.0.5/32")
		f.Segments([]resource.SegmentIntent{seg})
		f.Leased(leased(mac1, "10.7.0.101", now.Add(time.Hour)))
		f.answered("bmcs", rooted("10.7.0.5", now))
		row.change(&seg)
		f.Segments([]resource.SegmentIntent{seg})
		if n := len(f.Found()); n != row.left {
			t.Errorf("%s: %d are left", row.name, n)
		}
	}
}
