package firmware

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"golang.org/x/net/ipv6"

	"rackboot/integration/netns"
	"rackboot/netboot"
	"rackboot/netboot/dhcp6"
	"rackboot/netboot/httpboot"
	"rackboot/protocol/resource"
)

// TestOVMFHTTPv6 boots real firmware by HTTP over IPv6 from the production servers:
// the URL of the ADVERTISE ends where the next option begins. With the flag M in router
// advertisements its IPv6 driver leases the same address for itself, and gives it back
// before the file is loaded. Without advertisements it waits 10 s for them, and then
// tries: the server is in the same /64.
func TestOVMFHTTPv6(t *testing.T) {
	need(t)
	for _, row := range []struct {
		name    string
		router  routerAdvert
		results int // SOLICIT and REQUEST, and the driver's RELEASE
	}{
		{"router", routerAdvert{lifetime: 30 * time.Minute, managed: true}, 3},
		{"no router", routerAdvert{}, 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), flowTimeout)
			defer cancel()
			rack := &rack6{newBootRack(t), make(chan netboot.Lease6, 8)}
			ns := boot6Network(ctx, t, "http6")
			registry := prometheus.NewRegistry()
			rack.serve6(ctx, t, ns, registry)
			advertise(ctx, t, ns, row.router)
			dir := t.TempDir()
			// It has no TCP without random numbers, and no DHCPv6 before it knows that nobody
			// else has its link-local address, which takes longer than its start.
			args := append(only6(), "-device", "virtio-rng-pci", "-boot", "menu=on,splash-time=5000")
			startMachine(t, ns, dir, unpacked(t, newerCode), unpacked(t, newerVars), args...)
			rack.awaitFetch(t, dir, rack.prefix6())
			if n := len(rack.ended); n > 0 {
				t.Errorf("the address was given up %d times while the file was loaded", n)
			}
			got, err := testutil.GatherAndCount(registry, "rackboot_dhcp6_packets_total")
			if want := row.results; err != nil || got != want {
				t.Errorf("%d kinds of messages and results, want %d (%v)", got, want, err)
			}
		})
	}
}

// rack6 is a bootRack whose machine boots over IPv6.
type rack6 struct {
	*bootRack
	ended chan netboot.Lease6
}

func (rack6) address6() netip.Addr  { return netip.MustParseAddr("2001:db8:99::1") }
func (rack6) prefix6() netip.Prefix { return netip.MustParsePrefix("2001:db8:99::/64") }

// boot6Network is a namespace with the tap of one machine, and addresses of IPv6.
func boot6Network(ctx context.Context, t *testing.T, name string) *netns.Namespace {
	t.Helper()
	ns, err := netns.New(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ns.Close() })
	for _, which := range []string{"all", "default"} {
		for parameter, v := range map[string]string{"disable_ipv6": "0", "accept_dad": "0", "accept_ra": "0", "router_solicitations": "0"} {
			if err := ns.Set("ipv6/conf/"+which+"/"+parameter, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, line := range []string{"ip tuntap add dev boot0 mode tap", "ip address add 2001:db8:99::1/64 dev boot0", "ip link set boot0 up"} {
		if err := ns.Run(ctx, line); err != nil {
			t.Fatal(err)
		}
	}
	return ns
}

// serve6 runs the boot servers inside the namespace until the test ends.
func (r *rack6) serve6(ctx context.Context, t *testing.T, ns *netns.Namespace, registry *prometheus.Registry) {
	t.Helper()
	var files *httpboot.Server
	var leases *dhcp6.Server
	err := ns.Do(func() (err error) {
		files, err = httpboot.New(httpboot.Config{Listen6: netip.AddrPortFrom(r.address6(), 80), Files: r, Evidence: r, Registerer: registry})
		if err != nil {
			return err
		}
		leases, err = dhcp6.New(dhcp6.Config{
			Segment: "boot", Interface: "boot0", DUID: dhcp6.DUID("agent/boot"), Resolver: r, Leases: r, Evidence: r,
			Ended: func(l netboot.Lease6) { r.ended <- l }, Registerer: registry,
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	runServers(ctx, t, files.Run, leases.Run)
}

// Segment implements netboot.Resolver.
func (r *rack6) Segment(name string) (resource.SegmentIntent, bool) {
	seg, ok := r.bootRack.Segment(name)
	seg.IPv6 = &resource.SegmentIPv6Intent{
		Mode: resource.IPv6Stateful, Prefix: r.prefix6(), Address: r.address6(), LeaseTime: time.Hour,
		PoolFrom: netip.MustParseAddr("2001:db8:99::1000"), PoolTo: netip.MustParseAddr("2001:db8:99::1fff"),
	}
	return seg, ok
}

// Load, Put and Delete implement netboot.LeaseStore[netboot.Lease6].
func (*rack6) Load(string) ([]netboot.Lease6, error)        { return nil, nil }
func (*rack6) Put(context.Context, ...netboot.Lease6) error { return nil }
func (*rack6) Delete(context.Context, netboot.Lease6) error { return nil }

// routerAdvert is what the segment's router says of itself (RFC 4861 section 4.2).
type routerAdvert struct {
	lifetime time.Duration // of the default route; 0 for a link without a router
	managed  bool          // the flag M: addresses by DHCPv6
}

func (a routerAdvert) bytes() []byte {
	const advertisement, hops, managed = 134, 64, 0x80
	b := []byte{advertisement, 0, 0, 0, hops, 0}
	if a.managed {
		b[5] = managed
	}
	b = binary.BigEndian.AppendUint16(b, uint16(a.lifetime/time.Second))
	return append(b, make([]byte, 8)...) // reachable time and retransmission: not said
}

// advertise is the segment's router: it says so each second until the test ends.
func advertise(ctx context.Context, t *testing.T, ns *netns.Namespace, a routerAdvert) {
	t.Helper()
	if a.lifetime == 0 {
		return
	}
	var conn net.PacketConn
	var zone string
	err := ns.Do(func() (err error) {
		ifi, err := net.InterfaceByName("boot0")
		if err != nil {
			return err
		}
		zone = strconv.Itoa(ifi.Index)
		if conn, err = net.ListenPacket("ip6:ipv6-icmp", "::"); err != nil {
			return err
		}
		p := ipv6.NewPacketConn(conn)
		return errors.Join(p.SetMulticastInterface(ifi), p.SetMulticastHopLimit(255)) // RFC 4861 section 6.1.2
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			// Nothing can be sent before the machine has its link up.
			_, _ = conn.WriteTo(a.bytes(), &net.IPAddr{IP: net.IPv6linklocalallnodes, Zone: zone})
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
	t.Cleanup(func() {
		cancel()
		running.Wait()
		_ = conn.Close()
	})
}
