package firmware

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"rackboot/integration/netns"
	"rackboot/netboot"
)

// TestDHCPClients has clients, a relay and a server that others have written, each row
// in a network of its own. What is true is read from the client's own files and from
// the server's lease store.
func TestDHCPClients(t *testing.T) {
	need(t)
	for _, row := range []struct {
		name string
		test func(context.Context, *testing.T)
	}{
		{"foreign", testForeign}, // the longest first
		{"dhclient", testDhclient},
		{"relay", testRelay},
		{"probe", testProbe},
		{"udhcpc", testUdhcpc},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			row.test(ctx, t)
		})
	}
}

// testForeign has dnsmasq as a second server. In the server's own place, and a second
// server of ours too, it is refused; elsewhere on the link it is found.
func testForeign(ctx context.Context, t *testing.T) {
	const foreign = "10.7.0.9"
	l := newLAN(ctx, t)
	l.serve(ctx, t, "dhcp")
	if err := l.neighbour.Run(ctx, "ip address add "+foreign+"/24 dev eth0"); err != nil {
		t.Fatal(err)
	}
	line := func(device, name string) []string {
		return []string{
			"dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--port=0", "--bind-interfaces", "--interface=" + device, "--no-ping",
			"--dhcp-range=10.7.0.200,10.7.0.210,2m", "--dhcp-leasefile=" + l.path(name+".leases"), "--pid-file=", "--user=root", "--log-facility=-",
		}
	}
	dnsmasq := line("eth0", "dnsmasq")
	l.start(t, l.neighbour, "dnsmasq", false, dnsmasq[0], dnsmasq[1:]...)

	for what, program := range map[string][]string{
		"another DHCP server listens on 0.0.0.0:67": {"env", childVar + "=" + childDHCP, folderVar + "=" + l.path("second"), os.Args[0]},
		"Address already in use":                    line("boot0", "second"),
	} {
		l.write(t, "second/"+dhcpConfigFile, l.read("dhcp", dhcpConfigFile))
		if said, err := l.refusal(ctx, l.server, program); err != nil || !strings.Contains(said, what) {
			t.Errorf("want %q: %v, %s", what, err, said)
		}
	}

	// It looks for others 15 s after its start.
	l.until(ctx, t, time.Minute, "the other server is found", func(context.Context) (bool, error) {
		n, ok := l.notice("dhcp.out", netboot.NoticeForeignServer)
		return ok && n.Address.String() == foreign, l.alive()
	})
}

// refusal is what a program said that must fail at once.
func (l *lan) refusal(ctx context.Context, ns *netns.Namespace, line []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := ns.Start(cmd); err != nil {
		return "", err
	}
	err := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return said.String(), ctx.Err()
	case err == nil:
		return said.String(), errors.New("it ended well")
	}
	return said.String(), nil
}
