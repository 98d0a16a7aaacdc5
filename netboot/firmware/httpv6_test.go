package firmware_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"rackboot/netboot"
	"rackboot/netboot/dhcp6"
	"rackboot/netboot/firmware"
	"rackboot/netboot/httpboot"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// rack6 is a rack whose machine boots over IPv6, on the loopback address.
type rack6 struct {
	*rack
	base string
	seen chan protocol.BootClient
}

func newRack6(t *testing.T, answer protocol.BootAnswer) (*rack6, *firmware.Client) {
	t.Helper()
	r := &rack6{rack: newRack(t, answer), seen: make(chan protocol.BootClient, 100)}
	at := netip.MustParseAddrPort("[::1]:0")
	files, err := httpboot.New(httpboot.Config{Listen6: at, Files: r.rack, Evidence: r.rack})
	if err != nil {
		t.Fatal(err)
	}
	r.base = "http://" + files.Addr6().String()
	server, err := dhcp6.New(dhcp6.Config{Segment: "rack1", Listen: at, DUID: dhcp6.DUID("test"), Resolver: r, Leases: r, Evidence: r})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, run := range []func(context.Context) error{files.Run, server.Run} {
		running.Go(func() {
			if err := run(ctx); err != nil {
				t.Errorf("Run: %v", err)
			}
		})
	}
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	c := r.machine()
	c.Server = server.Addr().(*net.UDPAddr)
	return r, c
}

// Segment implements netboot.Resolver.
func (r *rack6) Segment(name string) (resource.SegmentIntent, bool) {
	seg, ok := r.rack.Segment(name)
	seg.IPv6 = &resource.SegmentIPv6Intent{
		Mode: resource.IPv6Stateful, Prefix: netip.MustParsePrefix("::/64"), Address: netip.MustParseAddr("::1"), BaseURL: r.base, LeaseTime: time.Hour,
		PoolFrom: netip.MustParseAddr("::1000"), PoolTo: netip.MustParseAddr("::1fff"),
	}
	return seg, ok
}

// Resolve implements netboot.Resolver.
func (r *rack6) Resolve(c protocol.BootClient) protocol.BootAnswer {
	r.seen <- c
	return r.rack.Resolve(c)
}

func (*rack6) Load(string) ([]netboot.Lease6, error)        { return nil, nil }
func (*rack6) Put(context.Context, ...netboot.Lease6) error { return nil }
func (*rack6) Delete(context.Context, netboot.Lease6) error { return nil }

// TestHTTPv6Boot: the whole flow against the production servers; the row numbers are of
// what EDK2's HttpBootDhcp6.c does.
func TestHTTPv6Boot(t *testing.T) {
	boot := protocol.BootAnswer{Action: protocol.AnswerBoot, Server: "n1", Token: token, File: bootName}
	for _, row := range []struct {
		name   string
		answer protocol.BootAnswer
		change func(*firmware.Client)
		want   error
	}{
		{"boots", boot, func(*firmware.Client) {}, nil},
		{"refused at once by a URL that answers 404", protocol.BootAnswer{Action: protocol.AnswerRefuse, Server: "n1"}, func(*firmware.Client) {}, firmware.ErrRefused},
		{"a plain lease is no boot", protocol.BootAnswer{Action: protocol.AnswerLease, Server: "n1"}, func(*firmware.Client) {}, firmware.ErrNoOffer},
		{"silence", protocol.BootAnswer{Action: protocol.AnswerSilence}, func(*firmware.Client) {}, firmware.ErrNoOffer},
		{"no router", boot, func(c *firmware.Client) { c.NoRouter = true }, firmware.ErrNoRoute},
	} {
		t.Run(row.name, func(t *testing.T) {
			r, c := newRack6(t, row.answer)
			if row.want != nil && !errors.Is(row.want, firmware.ErrRefused) {
				c.Speed = silence
			}
			row.change(c)
			res, err := c.HTTPv6Boot(t.Context())
			if !errors.Is(err, row.want) {
				t.Fatalf("%v, want %v", err, row.want)
			}
			seen := <-r.seen
			if seen.MAC != c.MAC.String() || seen.UUID == "" || seen.Class != protocol.ClassHTTPClient || len(seen.Archs) != 1 || seen.Archs[0] != firmware.ArchX64HTTP {
				t.Errorf("the agent saw %+v", seen)
			}
			if row.want != nil {
				return
			}
			if res.Size != int64(len("MZ and more")) || res.ContentType != "application/efi" || !netip.MustParsePrefix("::/64").Contains(res.Address) {
				t.Errorf("%+v", res)
			}
			// The system has the same machine's address, and learns where to report.
			l, err := c.Plain6(t.Context())
			if err != nil || l.Address != res.Address || l.Bootfile != r.base+"/b/"+token+"/" {
				t.Errorf("the system has %+v, %v; firmware had %s", l, err, res.Address)
			}
			if err := c.Report(t.Context(), l.Bootfile, protocol.ProbeReport{State: protocol.ProbeInstalled}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestBootURI6: with a URI in the boot option a plain lease is enough.
func TestBootURI6(t *testing.T) {
	r, c := newRack6(t, protocol.BootAnswer{Action: protocol.AnswerLease, Server: "n1"})
	c.BootURI = r.base + "/b/" + token + "/" + bootName
	if res, err := c.HTTPv6Boot(t.Context()); err != nil || res.URL != c.BootURI {
		t.Errorf("%+v, %v", res, err)
	}
}
