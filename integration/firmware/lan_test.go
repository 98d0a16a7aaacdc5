package firmware

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rackboot/integration/netns"
	"rackboot/netboot"
	"rackboot/protocol/resource"
)

const (
	lanClientMAC    = "52:54:00:cc:00:01"
	lanNeighbourMAC = "52:54:00:cc:00:02"
	// lanLease has T1 at 10 s and T2 at 17 s. dhclient counts whole seconds and asks every
	// two: of a lease with less than two of them after T2 it may miss the end.
	lanLease = 20 * time.Second
)

// lan is a DHCP server and a client on one bridge:
//
//	server: boot0 (bridge) ── client: eth0
//	                       └─ neighbour: eth0
//
// The neighbour has no address until it is given one.
type lan struct {
	*site
	server, client, neighbour *netns.Namespace
}

func newLAN(ctx context.Context, t *testing.T) *lan {
	t.Helper()
	l := &lan{site: &site{dir: t.TempDir(), started: time.Now()}}
	l.namespaces(ctx, t, map[string]**netns.Namespace{"dhcp-server": &l.server, "dhcp-client": &l.client, "dhcp-neighbour": &l.neighbour})
	l.bridge(ctx, t, l.server, "boot0", bootAddress+"/24")
	return l
}

// namespaces makes namespaces that are closed when the test ends.
func (l *lan) namespaces(ctx context.Context, t *testing.T, names map[string]**netns.Namespace) {
	t.Helper()
	for name, ns := range names {
		var err error
		if *ns, err = netns.New(ctx, name); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.leave(t, *ns) })
	}
}

// bridge makes the bridge with client and neighbour in a namespace.
func (l *lan) bridge(ctx context.Context, t *testing.T, at *netns.Namespace, name, address string) {
	t.Helper()
	if err := errors.Join(
		netns.Bridge(ctx, netns.Port{Namespace: at, Name: name, Address: address}),
		netns.Cable(ctx, netns.Port{Namespace: at, Name: "client"}, netns.Port{Namespace: l.client, Name: "eth0"}),
		netns.Cable(ctx, netns.Port{Namespace: at, Name: "neighbour"}, netns.Port{Namespace: l.neighbour, Name: "eth0"}),
		l.client.Run(ctx, "ip link set eth0 address "+lanClientMAC),
		l.neighbour.Run(ctx, "ip link set eth0 address "+lanNeighbourMAC),
		at.Join(ctx, "client", name), at.Join(ctx, "neighbour", name),
	); err != nil {
		t.Fatal(err)
	}
	for _, port := range []string{"client", "neighbour"} {
		l.until(ctx, t, 30*time.Second, port+" is connected", func(ctx context.Context) (bool, error) { return at.Forwards(ctx, port) })
	}
}

// serve starts the DHCP server, and again after it was stopped, with the leases that
// it has on disk.
func (l *lan) serve(ctx context.Context, t *testing.T, name string) *process {
	t.Helper()
	return l.serveSegment(ctx, t, name, resource.SegmentIntent{
		Name: "rack1", Prefix: netip.MustParsePrefix(bootNet), Address: netip.MustParseAddr(bootAddress),
		PoolFrom: netip.MustParseAddr("10.7.0.100"), PoolTo: netip.MustParseAddr("10.7.0.103"), LeaseTime: lanLease,
	})
}

func (l *lan) serveSegment(ctx context.Context, t *testing.T, name string, seg resource.SegmentIntent) *process {
	t.Helper()
	raw, err := json.Marshal(dhcpConfig{Interface: "boot0", Segment: seg})
	if err != nil {
		t.Fatal(err)
	}
	l.write(t, filepath.Join("dhcp", dhcpConfigFile), string(raw))
	p := l.start(t, l.server, name, false, "env", childVar+"="+childDHCP, folderVar+"="+l.path("dhcp"), os.Args[0])
	l.until(ctx, t, time.Minute, "a DHCP server", func(context.Context) (bool, error) {
		return strings.Contains(l.read(name+".out"), "ready"), l.alive()
	})
	return p
}

// lease is what the server's store has for an address.
func (l *lan) lease(t *testing.T, address string) (netboot.Lease, bool) {
	t.Helper()
	var leases []netboot.Lease
	if err := json.Unmarshal([]byte(l.read("dhcp", dhcpLeasesFile)), &leases); err != nil {
		t.Fatal(err)
	}
	for _, one := range leases {
		if one.Address.String() == address {
			return one, true
		}
	}
	return netboot.Lease{}, false
}

// leased checks that the store has the address for the client for as long as the
// lease runs, counted from now at the earliest.
func (l *lan) leased(t *testing.T, address string) netboot.Lease {
	t.Helper()
	one, ok := l.lease(t, address)
	if !ok || one.MAC != lanClientMAC || one.Declined || time.Until(one.Expires) <= 0 || time.Until(one.Expires) > lanLease {
		t.Fatalf("the store has %+v (%v) for %s", one, ok, address)
	}
	return one
}

// says waits for a line of a file that begins with the words, below those that were
// there before, and returns its words.
func (l *lan) says(ctx context.Context, t *testing.T, limit time.Duration, file string, before int, words string) []string {
	t.Helper()
	var found []string
	l.until(ctx, t, limit, file+": "+words, func(context.Context) (bool, error) {
		for i, line := range strings.Split(l.read(file), "\n") {
			if i >= before && strings.HasPrefix(line+" ", words+" ") {
				found = strings.Fields(line)
				return true, nil
			}
		}
		return false, l.alive()
	})
	return found
}

// lines is how many lines a file has now.
func (l *lan) lines(file string) int { return strings.Count(l.read(file), "\n") }

// capture writes what passes an interface to a file, one packet per line or more.
func (l *lan) capture(ctx context.Context, t *testing.T, ns *netns.Namespace, device, name string) {
	t.Helper()
	l.start(t, ns, name, false, "tcpdump", "-l", "-e", "-n", "-v", "-i", device, "udp port 67")
	l.until(ctx, t, 30*time.Second, "a capture", func(context.Context) (bool, error) {
		return strings.Contains(l.read(name+".log"), "listening on"), l.alive()
	})
}
