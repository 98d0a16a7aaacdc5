package firmware

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"rackboot/netboot"
)

// dhclientScript does what a system's own does with addresses, and nothing else. An
// address that somebody else has is refused, which makes dhclient decline it.
const dhclientScript = `#!/bin/sh
PATH=/usr/sbin:/usr/bin:/sbin:/bin
case $reason in
PREINIT) ip link set dev "$interface" up ;;
BOUND)
    if ! busybox arping -q -D -c 3 -w 3 -I "$interface" "$new_ip_address"; then
        echo "CONFLICT $new_ip_address" >>LOG
        exit 1
    fi
    ip address replace "$new_ip_address/24" dev "$interface" ;;
RENEW | REBIND | REBOOT) ip address replace "$new_ip_address/24" dev "$interface" ;;
EXPIRE | FAIL | RELEASE | STOP) ip address flush dev "$interface" ;;
esac
echo "$reason $new_ip_address $new_dhcp_server_identifier $new_dhcp_lease_time" >>LOG
`

const dhclientConfig = `timeout 20;
retry 1;
reboot 30;
initial-interval 1;
backoff-cutoff 2;
request subnet-mask, routers, domain-name-servers;
`

// dhclient starts ISC's client. Its script writes to dhclient.did, its messages go to
// a file of the name.
func (l *lan) dhclient(t *testing.T, name string) *process {
	t.Helper()
	l.write(t, "dhclient.conf", dhclientConfig)
	l.write(t, "dhclient.script", strings.ReplaceAll(dhclientScript, "LOG", l.path("dhclient.did")))
	if err := os.Chmod(l.path("dhclient.script"), 0o700); err != nil {
		t.Fatal(err)
	}
	return l.start(t, l.client, name, false, "dhclient", "-4", "-d", "-v", "-cf", l.path("dhclient.conf"),
		"-lf", l.path("dhclient.leases"), "-pf", l.path("dhclient.pid"), "-sf", l.path("dhclient.script"), "eth0")
}

// crash ends a client without a word, and takes its address away, as a power cut does.
func (l *lan) crash(ctx context.Context, t *testing.T, p *process) {
	t.Helper()
	if err := p.kill(); err != nil {
		t.Fatal(err)
	}
	if err := l.client.Run(ctx, "ip address flush dev eth0"); err != nil {
		t.Fatal(err)
	}
}

// testDhclient goes through the states of RFC 2131 figure 5.
func testDhclient(ctx context.Context, t *testing.T) {
	const did = "dhclient.did"
	l := newLAN(ctx, t)
	server := l.serve(ctx, t, "dhcp-1")
	client := l.dhclient(t, "dhclient-1")
	bound := l.says(ctx, t, 30*time.Second, did, 0, "BOUND")
	if len(bound) != 4 || bound[2] != bootAddress || bound[3] != strconv.Itoa(int(lanLease.Seconds())) {
		t.Fatalf("bound: %q", bound)
	}
	address := bound[1]
	first := l.leased(t, address)
	l.kept(ctx, t, first)

	before := l.lines(did)
	l.says(ctx, t, lanLease, did, before, "RENEW "+address)
	second := l.leased(t, address)
	if !second.Expires.After(first.Expires) {
		t.Errorf("renewed until %s, which was %s", second.Expires, first.Expires)
	}
	if log := l.read("dhclient-1.log"); !strings.Contains(log, "DHCPREQUEST for "+address+" on eth0 to "+bootAddress) {
		t.Errorf("the renewal was not sent to the server:\n%s", log)
	}

	// What is sent to the server alone is lost from here on; broadcasts arrive.
	if err := errors.Join(
		l.server.Run(ctx, "nft add table ip deaf"),
		l.server.Run(ctx, "nft add chain ip deaf in { type filter hook input priority 0 ; }"),
		l.server.Run(ctx, "nft add rule ip deaf in ip daddr "+bootAddress+" udp dport 67 drop"),
	); err != nil {
		t.Fatal(err)
	}
	before = l.lines(did)
	l.says(ctx, t, lanLease+5*time.Second, did, before, "RENEW "+address)
	if log := l.read("dhclient-1.log"); strings.Count(log, "DHCPREQUEST for "+address+" on eth0 to 255.255.255.255") < 2 {
		t.Errorf("the lease was not rebound by a broadcast:\n%s", log)
	}
	third := l.leased(t, address)
	if !third.Expires.After(second.Expires) {
		t.Errorf("rebound until %s, which was %s", third.Expires, second.Expires)
	}
	if err := l.server.Run(ctx, "nft delete table ip deaf"); err != nil {
		t.Fatal(err)
	}
	l.kept(ctx, t, third) // with the one before, which has expired, it would begin anew

	l.crash(ctx, t, client)
	before = l.lines(did)
	client = l.dhclient(t, "dhclient-2")
	l.rebooted(ctx, t, "dhclient-2.log", address, before)

	l.crash(ctx, t, client)
	if err := server.stop(); err != nil {
		t.Fatal(err)
	}
	l.serve(ctx, t, "dhcp-2")
	before = l.lines(did)
	l.dhclient(t, "dhclient-3")
	l.rebooted(ctx, t, "dhclient-3.log", address, before)
}

// kept waits until the client's file has the lease: it runs its script before it writes.
func (l *lan) kept(ctx context.Context, t *testing.T, lease netboot.Lease) {
	t.Helper()
	expires := regexp.MustCompile("fixed-address " + regexp.QuoteMeta(lease.Address.String()) + `;[^}]*\n  expire \d ([^;]+);\n}`)
	l.until(ctx, t, 30*time.Second, "the client's lease file", func(context.Context) (bool, error) {
		all := expires.FindAllStringSubmatch(l.read("dhclient.leases"), -1)
		if len(all) == 0 {
			return false, l.alive()
		}
		last, err := time.Parse("2006/01/02 15:04:05", all[len(all)-1][1])
		return err == nil && !last.Before(lease.Expires.Truncate(time.Second)), err
	})
}

// rebooted waits for an INIT-REBOOT that is granted without a DISCOVER.
func (l *lan) rebooted(ctx context.Context, t *testing.T, log, address string, before int) {
	t.Helper()
	l.says(ctx, t, 45*time.Second, "dhclient.did", before, "REBOOT "+address)
	l.kept(ctx, t, l.leased(t, address))
	if said := l.read(log); strings.Contains(said, "DHCPDISCOVER") || !strings.Contains(said, "DHCPACK of "+address) {
		t.Errorf("INIT-REBOOT:\n%s", said)
	}
}
