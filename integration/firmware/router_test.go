package firmware

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"rackboot/integration/netns"
)

// rules let racks dial the hub, and nothing else: no rack is dialled, racks do not
// reach each other, and the ports of network boot are closed both ways.
const rules = `
table inet rackboot {
	counter boot {}
	counter inward {}
	chain forward {
		type filter hook forward priority 0; policy drop;
		udp dport { 67, 68, 69, 4011 } counter name "boot" drop
		ct state established,related accept
		iifname { "rack-a", "rack-b" } oifname "hub" accept
		counter name "inward" drop
	}
}
`

func bootPorts() []int { return []int{67, 68, 69, 4011} }

const (
	controlPort = 7000 // open to the hub, to show that only the rules stop the rest
	dialTimeout = 30 * time.Second
	shutTimeout = time.Second // of a dial that nobody answers
)

// guard loads the router's rules.
func (s *site) guard(ctx context.Context) error {
	if err := os.WriteFile(s.path("router.nft"), []byte(rules), 0o600); err != nil {
		return err
	}
	return s.router.Run(ctx, "nft -f "+s.path("router.nft"))
}

// dropped is how many packets a counter of the router has.
func (s *site) dropped(ctx context.Context, t *testing.T, counter string) int {
	t.Helper()
	out, err := s.router.Output(ctx, "nft list counter inet rackboot "+counter)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`packets (\d+)`).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no count in %q", out)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// checkRouter shows with packets that the router does what the test relies on.
func (s *site) checkRouter(ctx context.Context, t *testing.T) {
	t.Helper()
	s.checkBootPorts(ctx, t)
	listen := func(ns *netns.Namespace, address string) {
		t.Helper()
		err := ns.Do(func() error {
			l, err := net.Listen("tcp4", fmt.Sprintf("%s:%d", address, controlPort))
			if err == nil {
				t.Cleanup(func() { l.Close() })
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	listen(s.hub, hubAddress)
	listen(s.rackA, uplinkA)
	listen(s.rackB, uplinkB)
	for _, row := range []struct {
		from *netns.Namespace
		to   string
		open bool
	}{
		{s.rackA, hubAddress, true},
		{s.rackB, hubAddress, true},
		{s.hub, uplinkA, false},
		{s.hub, uplinkB, false},
		{s.rackA, uplinkB, false},
		{s.rackB, uplinkA, false},
	} {
		before, limit := s.dropped(ctx, t, "inward"), shutTimeout
		if row.open {
			limit = dialTimeout
		}
		err := row.from.Do(func() error {
			c, err := net.DialTimeout("tcp4", fmt.Sprintf("%s:%d", row.to, controlPort), limit)
			if err == nil {
				err = c.Close()
			}
			return err
		})
		if (err == nil) != row.open {
			t.Fatalf("%s dials %s: %v, want open %t", row.from.Name, row.to, err, row.open)
		}
		if after := s.dropped(ctx, t, "inward"); (after > before) == row.open {
			t.Fatalf("%s dials %s: the router dropped %d packets", row.from.Name, row.to, after-before)
		}
	}
}

// checkBootPorts sends from a rack to the hub to each port of network boot, and
// then to one that is open: when that arrives, the others would have.
func (s *site) checkBootPorts(ctx context.Context, t *testing.T) {
	t.Helper()
	sockets := map[int]net.PacketConn{}
	err := s.hub.Do(func() error {
		for _, port := range append(bootPorts(), controlPort) {
			c, err := net.ListenPacket("udp4", fmt.Sprintf("%s:%d", hubAddress, port))
			if err != nil {
				return err
			}
			t.Cleanup(func() { c.Close() })
			sockets[port] = c
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.rackA.Do(func() error {
		c, err := net.ListenPacket("udp4", uplinkA+":0")
		if err != nil {
			return err
		}
		defer c.Close()
		for _, port := range append(bootPorts(), controlPort) {
			if _, err := c.WriteTo([]byte("test"), &net.UDPAddr{IP: net.ParseIP(hubAddress), Port: port}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	received := func(port int, wait time.Duration) bool {
		_ = sockets[port].SetReadDeadline(time.Now().Add(wait)) // a UDP socket takes deadlines
		_, _, err := sockets[port].ReadFrom(make([]byte, 16))
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		return err == nil
	}
	if !received(controlPort, 30*time.Second) {
		t.Fatalf("UDP port %d did not come from the rack to the hub", controlPort)
	}
	for _, port := range bootPorts() {
		if received(port, 10*time.Millisecond) {
			t.Errorf("UDP port %d came from the rack to the hub", port)
		}
	}
	// Where the sender changed the processor, one that was sent before may come after.
	s.until(ctx, t, 30*time.Second, "the router dropped the boot ports' packets", func(ctx context.Context) (bool, error) {
		return s.dropped(ctx, t, "boot") >= len(bootPorts()), nil
	})
	if n := s.dropped(ctx, t, "boot"); n != len(bootPorts()) {
		t.Errorf("the router dropped %d packets for the ports of network boot, want %d", n, len(bootPorts()))
	}
}
