package rack

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	bmcsim "rackboot/bmc/sim"
	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestHTTPv6 is a first boot over IPv6: from the claim to the installed system, whose
// report comes by IPv6 too, and boots from disk after it.
func TestHTTPv6(t *testing.T) {
	t.Parallel()
	b := newBench6(t)
	b.socket = socketPath(t)
	a, _ := b.start(nil)
	b.claim(0)
	b.send(a)
	r := b.until("the disk boot after the installation", 0, diskBoot)
	first := b.traceOf("the first boot", func(tr resource.Trace) bool {
		return tr.Intended == protocol.TargetUefiHTTP && tr.State == resource.AttemptSucceeded
	})
	if len(r.Provisioned) == 0 || first.Observed != protocol.TargetUefiHTTP {
		t.Errorf("provisioned %t, by %q", len(r.Provisioned) > 0, first.Observed)
	}
	b.bootedOnce(resource.ArtefactUKI)
}

// TestChainV6 is the same through shim and GRUB: all that they ask for is had by IPv6.
func TestChainV6(t *testing.T) {
	t.Parallel()
	b := newBench6(t)
	b.pushParts()
	b.loaders = loaderFolder(t, true)
	a, _ := b.start(nil)
	b.claim(0)
	b.send(a)
	b.until("the disk boot after the installation", 0, diskBoot)
	b.bootedOnce(resource.ArtefactInitramfs)
}

// bootedOnce checks that the server has installed one thing of the image once.
func (b *bench) bootedOnce(kind resource.ArtefactKind) {
	b.t.Helper()
	b.booted(0, 1, 1)
	if _, _, _, inst := b.servers[0].Boots.Counts(); inst != 1 {
		b.t.Errorf("%d installations", inst)
	}
	if art, _ := b.image.Artefact(kind); b.servers[0].Disk.Digest() != art.Digest {
		b.t.Errorf("installed %s, the image's %s is %s", b.servers[0].Disk.Digest(), kind, art.Digest)
	}
}

// newBench6 is a rack whose machine boots over IPv6.
func newBench6(t *testing.T) *bench {
	t.Helper()
	addrs, err := sim.FreeAddresses("::1", 2)
	if err != nil {
		t.Fatal(err)
	}
	b := newBenchOf(t, t.TempDir(), 1, bmcsim.Plain(), func(c *sim.ServerConfig) { c.DHCP6 = net.UDPAddrFromAddrPort(addrs[0]) })
	b.dhcp6, b.http6 = addrs[0], addrs[1]
	b.change = func(seg *resource.SegmentIntent) {
		seg.IPv6 = &resource.SegmentIPv6Intent{
			Mode: resource.IPv6Stateful, Prefix: netip.MustParsePrefix("::/64"), Address: netip.IPv6Loopback(), BaseURL: "http://" + b.http6.String(),
			PoolFrom: netip.MustParseAddr("::1000"), PoolTo: netip.MustParseAddr("::1fff"), LeaseTime: time.Hour,
		}
	}
	return b
}

// TestIPv6NotServed: an IPv6 side that the agent's own file has no server for is said,
// until one of them changes.
func TestIPv6NotServed(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	side := &resource.SegmentIPv6Intent{
		Mode: resource.IPv6Stateless, Prefix: netip.MustParsePrefix("::/64"), Address: netip.IPv6Loopback(), LeaseTime: time.Hour,
	}
	b.change = func(seg *resource.SegmentIntent) { seg.IPv6 = side }
	a, _ := b.start(nil)
	b.send(a)
	b.until("the condition", 0, func(resource.ServerReport) bool {
		return strings.Contains(b.condition(resource.CondIPv6NotServed), "boot-a")
	})
	side = nil
	b.send(a)
	b.until("the end of the condition", 0, func(resource.ServerReport) bool { return b.condition(resource.CondIPv6NotServed) == "" })
}
