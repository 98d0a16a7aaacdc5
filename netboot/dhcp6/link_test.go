//go:build host

package dhcp6

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/insomniacslk/dhcp/iana"
	"golang.org/x/net/ipv6"

	"rackboot/integration/netns"
	"rackboot/netboot/guard"
	"rackboot/netboot/leasing"
	"rackboot/protocol"
)

// cable makes two namespaces with IPv6 and a cable between srv0 and cli0.
func cable(t *testing.T) (server, client *netns.Namespace) {
	t.Helper()
	make6 := func(name string) *netns.Namespace {
		n, err := netns.New(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.Close() })
		for _, which := range []string{"all", "default"} {
			for parameter, v := range map[string]string{"disable_ipv6": "0", "accept_dad": "0", "router_solicitations": "0"} {
				if err := n.Set("ipv6/conf/"+which+"/"+parameter, v); err != nil {
					t.Fatal(err)
				}
			}
		}
		return n
	}
	server, client = make6("server"), make6("client")
	err := netns.Cable(t.Context(), netns.Port{Namespace: server, Name: "srv0", Address: "2001:db8::1/64"}, netns.Port{Namespace: client, Name: "cli0"})
	if err != nil {
		t.Fatal(err)
	}
	for n, name := range map[*netns.Namespace]string{server: "srv0", client: "cli0"} {
		// What is sent before the link is up, with its link-local address, is lost.
		for _, sign := range []string{"state UP", "inet6 fe80:"} {
			for up := false; !up; time.Sleep(time.Millisecond) {
				out, err := n.Output(t.Context(), "ip address show dev "+name)
				if err != nil {
					t.Fatal(err)
				}
				up = strings.Contains(out, sign) && !strings.Contains(out, "tentative")
			}
		}
	}
	return server, client
}

// TestLink is the server on a real link: it hears the group, answers from its
// link-local address, refuses to share the port, and asks for routers.
func TestLink(t *testing.T) {
	here, there := cable(t)
	w := newWorld(t, boot1())
	cfg := w.config()
	cfg.Conn, cfg.Interface, cfg.Clock = nil, "srv0", nil
	var s *Server
	var udp, icmp net.PacketConn
	err := here.Do(func() (err error) {
		if s, err = New(cfg); err != nil {
			return err
		}
		if _, err := New(cfg); protocol.CodeOf(err) != protocol.CodeConflict || protocol.HintOf(err) == "" {
			return fmt.Errorf("a second server: %w", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var group *ipv6.PacketConn
	var zone string
	err = there.Do(func() (err error) {
		if udp, err = guard.Listen("test", "udp6", netip.MustParseAddrPort("[::]:546"), "cli0", nil); err != nil {
			return err
		}
		if icmp, err = guard.Listen("test", "ip6:ipv6-icmp", netip.MustParseAddrPort("[::]:0"), "cli0", nil); err != nil {
			return err
		}
		ifi, err := net.InterfaceByName("cli0")
		if err != nil {
			return err
		}
		group, zone = ipv6.NewPacketConn(icmp), strconv.Itoa(ifi.Index)
		var only ipv6.ICMPFilter
		only.SetAll(true)
		only.Accept(ipv6.ICMPTypeRouterSolicitation)
		for _, err := range []error{
			group.SetICMPFilter(&only), group.JoinGroup(ifi, &net.IPAddr{IP: net.IPv6linklocalallrouters}),
			group.SetMulticastInterface(ifi), group.SetMulticastHopLimit(hopLimit),
		} {
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	defer icmp.Close()
	for _, c := range []net.PacketConn{udp, icmp} {
		_ = c.SetDeadline(time.Now().Add(patience))
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()

	buf := make([]byte, leasing.PacketSize)
	if n, from, err := icmp.ReadFrom(buf); err != nil || n < 8 || buf[0] != icmpSolicitation {
		t.Fatalf("router solicitation: %x from %v, %v", buf[:n], from, err)
	}
	if _, err := icmp.WriteTo(routerSays(advertManaged, 1800), &net.IPAddr{IP: net.IPv6linklocalallnodes, Zone: zone}); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); len(s.routers.now(time.Now())) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the router advertisement is not heard")
		}
	}

	exchange := func(p *reply, to net.IP) (*dhcpv6.Message, *net.UDPAddr) {
		t.Helper()
		if _, err := udp.WriteTo(p.bytes(), &net.UDPAddr{IP: to, Port: portServer, Zone: zone}); err != nil {
			t.Fatal(err)
		}
		n, from, err := udp.ReadFrom(buf)
		if err != nil {
			t.Fatal(err)
		}
		m, err := dhcpv6.MessageFromBytes(buf[:n])
		if err != nil {
			t.Fatal(err)
		}
		return m, from.(*net.UDPAddr)
	}
	servers := net.ParseIP("ff02::1:2")
	m, from := exchange(client(dhcpv6.MessageTypeSolicit, mac1, httpClient(), ia(1)), servers)
	a := leased(m)
	if m.MessageType != dhcpv6.MessageTypeAdvertise || a == "" || !from.IP.IsLinkLocalUnicast() || from.Port != portServer {
		t.Fatalf("%s from %s", m.Summary(), from)
	}
	if m, _ = exchange(client(dhcpv6.MessageTypeRequest, mac1, httpClient(), ours(), ia(1, a)), servers); leased(m) != a || m.Options.BootFileURL() != "http://[2001:db8::1]/b/tok/uki.efi" {
		t.Fatalf("request: %s", m.Summary())
	}
	if m, _ = exchange(client(dhcpv6.MessageTypeRenew, mac1, ours(), ia(1, a)), from.IP); topStatus(m) != iana.StatusUseMulticast {
		t.Errorf("unicast: %s", m.Summary())
	}
}
