package discover

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/protocol/resource"
)

// TestReadAgain: a BMC that does not answer yet is asked again after 30 s, 1, 2 …
// minutes, and once it was read every hour; at another address at once.
func TestReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := netip.MustParseAddr("10.7.0.102")
		d := &dialled{dial: refusing}
		f, _ := start(t, Config{Dial: d.Dial})
		f.Segments([]resource.SegmentIntent{segment()})
		synctest.Wait()
		began := time.Now()
		f.Leased(leased(mac1, "10.7.0.101", began.Add(99*time.Hour)))
		time.Sleep(4 * time.Hour)
		synctest.Wait()
		want := []time.Duration{0, 30, 90, 210, 450, 930, 1890, 3810, 7410, 11010}
		at := d.times("10.7.0.101")
		if len(at) != len(want) {
			t.Fatalf("asked %d times", len(at))
		}
		for i, a := range at {
			if got := a.Sub(began).Round(time.Second); got != want[i]*time.Second {
				t.Errorf("the %d. time after %s, want %s", i+1, got, want[i]*time.Second)
			}
		}
		if b := f.Found()[0]; b.Problem == "" || b.Redfish != "" {
			t.Errorf("%+v", b)
		}
		moved := time.Now()
		f.Leased(leased(mac1, up.String(), began.Add(100*time.Hour)))
		synctest.Wait()
		if at := d.times(up.String()); len(at) != 1 || !at[0].Equal(moved) {
			t.Errorf("at its new address it was asked at %v", at)
		}
		f.Leased(leased(mac1, up.String(), began.Add(101*time.Hour))) // renewed
		f.answered("bmcs", rooted(up.String(), time.Now()))
		for range 3 {
			before := len(d.times(up.String()))
			time.Sleep(readEvery)
			synctest.Wait()
			if n := len(d.times(up.String())) - before; n != 1 {
				t.Errorf("asked %d times in an hour", n)
			}
			f.answered("bmcs", rooted(up.String(), time.Now()))
		}
	})
}

// TestLeasesBefore: leases that were granted before the start are looked at, and those
// of a MAC prefix once it is listed.
func TestLeasesBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases, now := &memLeases{}, time.Now()
		_ = leases.Put(t.Context(), leased(mac1, "10.7.0.101", now.Add(time.Minute)))
		_ = leases.Put(t.Context(), leased("aa:bb:cc:00:00:01", "10.7.0.102", now.Add(time.Minute)))
		_ = leases.Put(t.Context(), leased(mac2, "10.7.0.103", now))
		d := &dialled{dial: refusing}
		f, _ := start(t, Config{Leases: leases, Dial: d.Dial})
		seg := segment()
		f.Segments([]resource.SegmentIntent{seg})
		synctest.Wait()
		if found := f.Found(); len(found) != 1 || found[0].MAC != mac1 {
			t.Errorf("found %+v", found)
		}
		seg.BMCPrefixes = append(seg.BMCPrefixes, "aa:bb:cc")
		f.Segments([]resource.SegmentIntent{seg})
		time.Sleep(time.Second)
		synctest.Wait()
		if found := f.Found(); len(found) != 2 || len(d.times("10.7.0.102")) != 1 || len(d.times("10.7.0.101")) != 1 {
			t.Errorf("found %+v", found)
		}
	})
}

// TestReadsEnd: a read ends with its segment, and nothing is said of it; it is made
// anew when the segment is back.
func TestReadsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases, asking := &memLeases{}, 0
		f, _ := start(t, Config{Leases: leases, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			asking++
			return hole(ctx, netip.Addr{})
		}})
		l := leased(mac1, "10.7.0.101", time.Now().Add(time.Hour))
		_ = leases.Put(t.Context(), l)
		for i := range 3 {
			f.Segments([]resource.SegmentIntent{segment()})
			time.Sleep(time.Second)
			synctest.Wait()
			if found := f.Found(); len(found) != 1 || found[0].Problem != "" || asking != i+1 {
				t.Fatalf("asked %d times, found %+v", asking, found)
			}
			f.Segments(nil)
			synctest.Wait()
			if len(f.Found()) != 0 {
				t.Error("the segment is gone and its BMC is not")
			}
		}
	})
}

// TestReadsDoNotWait: BMCs with a lease are read beside a scan of a silent network, and
// at most leaseAtOnce at a time.
func TestReadsDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dialled{dial: hole}
		f, _ := start(t, Config{Dial: d.Dial})
		seg := segment()
		seg.Scan = prefixes("10.7.0.0/24")
		f.Segments([]resource.SegmentIntent{seg})
		time.Sleep(time.Second)
		for i := range 100 {
			addr := netip.AddrFrom4([4]byte{10, 7, 0, byte(100 + i)})
			mac := net.HardwareAddr{0x3c, 0xec, 0xef, 0, 0, byte(i)}
			f.Leased(leased(mac.String(), addr.String(), time.Now().Add(time.Hour)))
		}
		time.Sleep(4 * time.Second)
		synctest.Wait()
		d.mu.Lock()
		if d.now != scanAtOnce+leaseAtOnce || d.most > scanAtOnce+leaseAtOnce {
			t.Errorf("%d dials are running, at most %d", d.now, d.most)
		}
		d.mu.Unlock()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		for _, b := range f.Found() {
			if b.Problem == "" {
				t.Errorf("%s was not read", b.Address)
			}
		}
	})
}
