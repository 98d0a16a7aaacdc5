package firmware

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rackboot/netboot"
)

const udhcpcScript = `#!/bin/sh
case $1 in
bound | renew) ip address replace "$ip/24" dev "$interface" ;;
deconfig) ip address flush dev "$interface"; ip link set dev "$interface" up ;;
esac
echo "$1 $ip $serverid $lease" >>LOG
`

// udhcpcLine is BusyBox' client. Its script writes to udhcpc.did.
func (l *lan) udhcpcLine(t *testing.T, options ...string) []string {
	t.Helper()
	l.write(t, "udhcpc.script", strings.ReplaceAll(udhcpcScript, "LOG", l.path("udhcpc.did")))
	if err := os.Chmod(l.path("udhcpc.script"), 0o700); err != nil {
		t.Fatal(err)
	}
	return slices.Concat([]string{"udhcpc", "-f", "-i", "eth0", "-s", l.path("udhcpc.script"), "-t", "5", "-T", "2", "-A", "1"}, options)
}

// udhcpcOnce takes a lease and ends, and returns the address.
func (l *lan) udhcpcOnce(ctx context.Context, t *testing.T, options ...string) string {
	t.Helper()
	before := l.lines("udhcpc.did")
	line := l.udhcpcLine(t, append(options, "-q", "-n")...)
	if _, err := l.output(ctx, l.client, line[0], line[1:]...); err != nil {
		t.Fatal(err)
	}
	return l.says(ctx, t, time.Second, "udhcpc.did", before, "bound")[1]
}

// testUdhcpc takes a lease, renews it when told to, and gives it back. The replies
// go to the client's MAC address, which it is known by before it has another, unless
// it wants a broadcast.
func testUdhcpc(ctx context.Context, t *testing.T) {
	l := newLAN(ctx, t)
	l.serve(ctx, t, "dhcp")
	const unicasts, broadcasts = "unicasts", "broadcasts" // captures
	l.capture(ctx, t, l.client, "eth0", unicasts)
	line := l.udhcpcLine(t)
	client := l.start(t, l.client, "udhcpc", false, line[0], line[1:]...)
	address := l.says(ctx, t, 30*time.Second, "udhcpc.did", 0, "bound")[1]
	first := l.leased(t, address)
	unicast := lanClientMAC + ", ethertype IPv4"
	l.until(ctx, t, 30*time.Second, "the replies are captured", func(context.Context) (bool, error) {
		return len(l.replies(unicasts)) >= 2, l.alive()
	})
	for _, r := range l.replies(unicasts) {
		if !strings.Contains(r, "> "+unicast) || !strings.Contains(r, bootAddress+".67 > "+address+".68") {
			t.Errorf("a reply to a client without the broadcast flag: %s", r)
		}
	}

	if err := client.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	// Later it would ask everybody: this is the answer to what it asks the server.
	l.says(ctx, t, 10*time.Second, "udhcpc.did", 0, "renew "+address+" "+bootAddress)
	second := l.leased(t, address)
	if !second.Expires.After(first.Expires) {
		t.Errorf("renewed until %s, which was %s", second.Expires, first.Expires)
	}
	if err := client.cmd.Process.Signal(syscall.SIGUSR2); err != nil {
		t.Fatal(err)
	}
	l.until(ctx, t, 30*time.Second, "the lease is given back", func(context.Context) (bool, error) {
		one, ok := l.lease(t, address)
		return ok && one.Expires.Before(second.Expires), l.alive()
	})
	if err := client.stop(); err != nil {
		t.Fatal(err)
	}

	// The first capture may have the last unicasts later than this.
	l.capture(ctx, t, l.client, "eth0", broadcasts)
	if again := l.udhcpcOnce(ctx, t, "-B"); again != address {
		t.Errorf("%s after %s was given back", again, address)
	}
	l.until(ctx, t, 30*time.Second, "the broadcasts are captured", func(context.Context) (bool, error) {
		return len(l.replies(broadcasts)) >= 2, l.alive()
	})
	for _, r := range l.replies(broadcasts) {
		if !strings.Contains(r, "> ff:ff:ff:ff:ff:ff") || !strings.Contains(r, bootAddress+".67 > 255.255.255.255.68") {
			t.Errorf("a reply to a client with the broadcast flag: %s", r)
		}
	}
}

// replies are the packets of the server in a capture: the line of the frame, and the one
// with the addresses.
func (l *lan) replies(capture string) []string {
	var out []string
	lines := strings.Split(l.read(capture+".out"), "\n")
	for i, line := range lines[1:] {
		if strings.Contains(line, ".67 > ") && strings.Contains(line, "BOOTP/DHCP, Reply") {
			out = append(out, lines[i]+line)
		}
	}
	return out
}

// testProbe has a neighbour take the address that the client had first. A server that
// knows nothing of both offers another one: it asked the link.
func testProbe(ctx context.Context, t *testing.T) {
	l := newLAN(ctx, t)
	server := l.serve(ctx, t, "dhcp-1")
	address := l.udhcpcOnce(ctx, t)
	if err := server.stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(l.path("dhcp")); err != nil {
		t.Fatal(err)
	}
	if err := l.client.Run(ctx, "ip address flush dev eth0"); err != nil {
		t.Fatal(err)
	}
	if err := l.neighbour.Run(ctx, "ip address add "+address+"/24 dev eth0"); err != nil {
		t.Fatal(err)
	}
	l.serve(ctx, t, "dhcp-2")
	other := l.udhcpcOnce(ctx, t)
	if other == address {
		t.Fatalf("%s is the neighbour's", other)
	}
	l.leased(t, other)
	if one, ok := l.lease(t, address); ok {
		t.Errorf("the store has %+v for the neighbour's address", one)
	}
	n, ok := l.notice("dhcp-2.out", netboot.NoticeConflict)
	if !ok || n.Address.String() != address || n.MAC != lanNeighbourMAC {
		t.Errorf("notice %+v (%v), want %s of %s", n, ok, address, lanNeighbourMAC)
	}
}

// notice is the first notice of a kind that a server printed.
func (l *lan) notice(file string, kind netboot.NoticeKind) (netboot.Notice, bool) {
	for line := range strings.Lines(l.read(file)) {
		var n netboot.Notice
		if json.Unmarshal([]byte(line), &n) == nil && n.Kind == kind {
			return n, true
		}
	}
	return netboot.Notice{}, false
}
