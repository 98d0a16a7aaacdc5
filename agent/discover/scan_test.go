package discover

import (
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/protocol/resource"
)

func TestTargets(t *testing.T) {
	for _, row := range []struct {
		name    string
		prefix  string
		scan    []string
		n       int
		refused int
	}{
		{"all: without network, broadcast and own address", "10.7.0.0/24", []string{"10.7.0.0/24"}, 253, 0},
		{"a part in the middle has neither", "10.7.0.0/24", []string{"10.7.0.64/26"}, 64, 0},
		{"a part at the end has the broadcast address", "10.7.0.0/24", []string{"10.7.0.128/25"}, 127, 0},
		{"host bits are set", "10.7.0.0/24", []string{"10.7.0.130/30"}, 4, 0},
		{"one address", "10.7.0.0/24", []string{"10.7.0.9/32"}, 1, 0},
		{"the own address", "10.7.0.0/24", []string{"10.7.0.1/32"}, 0, 0},
		{"twice the same", "10.7.0.0/24", []string{"10.7.0.8/29", "10.7.0.0/28"}, 14, 0},
		{"another network", "10.7.0.0/24", []string{"10.8.0.0/24", "10.7.0.8/29"}, 8, 1},
		{"wider than the segment", "10.7.0.0/24", []string{"10.7.0.0/16"}, 0, 1},
		{"everything", "10.7.0.0/24", []string{"0.0.0.0/0"}, 0, 1},
		{"loopback", "10.7.0.0/24", []string{"127.0.0.1/32"}, 0, 1},
		{"IPv6", "10.7.0.0/24", []string{"fe80::/120"}, 0, 1},
		{"as many as may be", "10.0.0.0/8", []string{"10.7.4.0/22"}, 1024, 0},
		{"too many", "10.0.0.0/8", []string{"10.7.4.0/21"}, 1024, 1},
		{"far too many", "10.0.0.0/8", []string{"10.0.0.0/8", "10.9.0.0/24"}, 1024, 2},
		{"a /31 has neither (RFC 3021)", "10.7.0.0/31", []string{"10.7.0.0/31"}, 1, 0},
		{"nothing listed", "10.7.0.0/24", nil, 0, 0},
	} {
		seg := segment()
		seg.Prefix, seg.Scan = netip.MustParsePrefix(row.prefix), prefixes(row.scan...)
		addrs, refused := targets(seg)
		if len(addrs) != row.n || len(refused) != row.refused {
			t.Errorf("%s: %d addresses, %d prefixes refused", row.name, len(addrs), len(refused))
		}
		slices.SortFunc(addrs, netip.Addr.Compare)
		if len(slices.Compact(addrs)) != row.n {
			t.Errorf("%s: an address comes twice", row.name)
		}
		for _, a := range addrs {
			if !askable(seg, a) || !scanned(seg, a) {
				t.Errorf("%s: %s", row.name, a)
			}
		}
	}
	if addrs, refused := targets(resource.SegmentIntent{Scan: prefixes("10.7.0.0/24")}); len(addrs) != 0 || len(refused) != 1 {
		t.Errorf("without a prefix: %v", addrs)
	}
}

// TestScanIsBounded: in a range where nobody answers, never more than scanAtOnce
// addresses are dialled at once nor askRate in a second, and each once in a scan.
func TestScanIsBounded(t *testing.T) {
	for _, row := range []struct {
		name string
		dial func(*dialled)
		most int
	}{
		{"nobody answers", func(d *dialled) { d.dial = hole }, scanAtOnce},
		{"all refuse at once", func(d *dialled) { d.dial = refusing }, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &dialled{}
				row.dial(d)
				f, _ := start(t, Config{Dial: d.Dial})
				seg := segment()
				seg.Scan = prefixes("10.7.0.0/24", "10.9.0.0/24")
				f.Segments([]resource.SegmentIntent{seg})
				time.Sleep(2 * time.Minute)
				addrs, dials := d.count()
				if addrs != 253 || dials != 253 || d.most > row.most {
					t.Fatalf("%d addresses, %d dials, at most %d at once", addrs, dials, d.most)
				}
				var at []time.Time
				for _, times := range d.at {
					at = append(at, times...)
				}
				slices.SortFunc(at, time.Time.Compare)
				for i := 50; i < len(at); i++ {
					if gap := at[i].Sub(at[i-50]); gap < time.Second {
						t.Fatalf("51 dials in %s", gap)
					}
				}
				if len(f.Found()) != 0 {
					t.Errorf("found %+v", f.Found())
				}
			})
		})
	}
}

// TestScanAgain: scans come every 10 minutes, 2 minutes either way, and not all the
// same.
func TestScanAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dialled{dial: refusing}
		f, _ := start(t, Config{Dial: d.Dial})
		seg := segment()
		seg.Scan = prefixes("10.7.0.9/32")
		f.Segments([]resource.SegmentIntent{seg})
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		at := d.times("10.7.0.9")
		gaps := map[time.Duration]bool{}
		for i, a := range at[1:] {
			gap := a.Sub(at[i])
			gaps[gap.Round(time.Second)] = true
			if gap < 8*time.Minute || gap > 12*time.Minute+time.Second {
				t.Errorf("scans are %s apart", gap)
			}
		}
		if len(at) < 24*5 || len(gaps) < 10 {
			t.Errorf("%d scans with %d distances in a day", len(at), len(gaps))
		}
	})
}

// TestScanEnds: a scan ends at once with its segment and with Run, and begins anew
// only if the range changes.
func TestScanEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dialled{dial: hole}
		f, stop := start(t, Config{Dial: d.Dial})
		seg := segment()
		seg.Scan = prefixes("10.7.0.0/24")
		f.Segments([]resource.SegmentIntent{seg})
		time.Sleep(time.Second)
		synctest.Wait()
		running := func() int {
			d.mu.Lock()
			defer d.mu.Unlock()
			return d.now
		}
		if running() != scanAtOnce {
			t.Fatalf("%d dials are running", running())
		}
		seg.BMCMACs = []string{"aa:bb:cc:00:00:01"} // another BMC was accepted
		f.Segments([]resource.SegmentIntent{seg})
		synctest.Wait()
		if running() != scanAtOnce {
			t.Error("the scan was ended by a new MAC address")
		}
		f.Segments(nil)
		synctest.Wait()
		if _, before := d.count(); running() != 0 {
			t.Errorf("%d dials go on without the segment", running())
		} else {
			time.Sleep(time.Hour)
			if _, after := d.count(); after != before {
				t.Errorf("%d dials more without the segment", after-before)
			}
		}
		seg.Scan = prefixes("10.7.0.64/26")
		f.Segments([]resource.SegmentIntent{seg})
		time.Sleep(time.Second)
		synctest.Wait()
		if running() != scanAtOnce {
			t.Fatalf("%d dials are running again", running())
		}
		stop() // and wait for it
		if running() != 0 {
			t.Error("Run has ended, and its dials go on")
		}
	})
}
