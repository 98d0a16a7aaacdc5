package firmware

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"rackboot/integration/netns"
	"rackboot/netboot"
	"rackboot/protocol/resource"
)

const (
	relayServer = "10.6.0.1"
	relayUplink = "10.6.0.2"
	relayLAN    = "10.7.0.1" // what the relay writes into giaddr
)

// testRelay has the client behind a relay, where the server cannot ask the link for
// an address: the client finds out, and declines.
//
//	server: boot0 ── relay: up0, lan0 (bridge) ── client: eth0
//	                                           └─ neighbour: eth0
func testRelay(ctx context.Context, t *testing.T) {
	l := &lan{site: &site{dir: t.TempDir(), started: time.Now()}}
	var relay *netns.Namespace
	l.namespaces(ctx, t, map[string]**netns.Namespace{
		"dhcp-server": &l.server, "dhcp-relay": &relay, "dhcp-client": &l.client, "dhcp-neighbour": &l.neighbour,
	})
	l.bridge(ctx, t, relay, "lan0", relayLAN+"/24")
	if err := errors.Join(
		netns.Cable(ctx, netns.Port{Namespace: l.server, Name: "boot0", Address: relayServer + "/24"}, netns.Port{Namespace: relay, Name: "up0", Address: relayUplink + "/24"}),
		l.server.Run(ctx, "ip route add "+bootNet+" via "+relayUplink),
		relay.Set("ipv4/ip_forward", "1"),
	); err != nil {
		t.Fatal(err)
	}
	l.serveSegment(ctx, t, "dhcp", resource.SegmentIntent{
		Name: "rack1", Prefix: netip.MustParsePrefix(bootNet), Address: netip.MustParseAddr(relayServer),
		PoolFrom: netip.MustParseAddr("10.7.0.100"), PoolTo: netip.MustParseAddr("10.7.0.103"),
		Routers: []netip.Addr{netip.MustParseAddr(relayLAN)}, LeaseTime: lanLease,
	})
	l.capture(ctx, t, relay, "up0", "capture")
	l.start(t, relay, "dhcrelay", false, "dhcrelay", "-4", "-d", "-a", "-id", "lan0", "-iu", "up0", relayServer)
	l.until(ctx, t, 30*time.Second, "a relay", func(context.Context) (bool, error) {
		return strings.Contains(l.read("dhcrelay.log"), "Sending on   Socket/fallback"), l.alive()
	})

	address := l.udhcpcOnce(ctx, t, "-R") // which gives it back
	if l.says(ctx, t, time.Second, "udhcpc.did", 0, "bound")[2] != relayServer {
		t.Errorf("option 54: %s", l.read("udhcpc.did"))
	}
	if !strings.Contains(l.read("dhcp.out"), `"port":"lan0"`) {
		t.Errorf("the relay's option 82 was not understood:\n%s", l.read("dhcp.out"))
	}
	l.until(ctx, t, 30*time.Second, "option 82 is given back to the relay", func(context.Context) (bool, error) {
		replies := strings.Split(l.read("capture.out"), "BOOTP/DHCP, Reply")[1:]
		for _, r := range replies {
			r, _, _ = strings.Cut(r, "BOOTP/DHCP, Request")
			if strings.Contains(r, "Gateway-IP "+relayLAN) && strings.Contains(r, "Agent-Information (82)") && strings.Contains(r, "lan0") {
				return true, nil
			}
		}
		return false, l.alive()
	})

	if err := errors.Join(
		l.client.Run(ctx, "ip address flush dev eth0"),
		l.neighbour.Run(ctx, "ip address add "+address+"/24 dev eth0"),
	); err != nil {
		t.Fatal(err)
	}
	l.dhclient(t, "dhclient")
	l.says(ctx, t, time.Minute, "dhclient.did", 0, "CONFLICT "+address)
	other := l.says(ctx, t, time.Minute, "dhclient.did", 0, "BOUND")[1]
	if other == address {
		t.Fatalf("%s, which was declined, is given again", other)
	}
	if !strings.Contains(l.read("dhclient.log"), "DHCPDECLINE of "+address) {
		t.Errorf("no DHCPDECLINE:\n%s", l.read("dhclient.log"))
	}
	l.kept(ctx, t, l.leased(t, other)) // and its script, which is in the namespace too, has ended
	// A decline has no answer that its write would come before.
	var rests netboot.Lease
	l.until(ctx, t, 30*time.Second, "the store has the decline", func(context.Context) (bool, error) {
		rests, _ = l.lease(t, address)
		return rests.Declined, l.alive()
	})
	if time.Until(rests.Expires) < 10*time.Minute {
		t.Errorf("the store has %+v for the declined address", rests)
	}
}
