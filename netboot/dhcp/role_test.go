package dhcp

import (
	"slices"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

const (
	macBMC      = "3c:ec:ef:00:00:01" // by prefix
	macAccepted = "aa:bb:cc:00:00:02" // by address
)

// known is a resolver that knows servers by MAC address and by UUID, as the agent does.
type known struct {
	fixedResolver
	macs, uuids []string
}

func (k *known) Resolve(c protocol.BootClient) protocol.BootAnswer {
	if slices.Contains(k.macs, c.MAC) || slices.Contains(k.uuids, c.UUID) {
		return k.fixedResolver.Resolve(c)
	}
	return protocol.BootAnswer{Action: protocol.AnswerSilence}
}

func withRole(role resource.SegmentRole) resource.SegmentIntent {
	seg := testSegment()
	seg.Role, seg.BMCPrefixes, seg.BMCMACs = role, []string{"3c:ec:ef"}, []string{macAccepted}
	return seg
}

// TestRoles is the table at decide. mac1 is a server's, "77…" is its UUID.
func TestRoles(t *testing.T) {
	const (
		silence = ""
		lease   = "lease"
		boot    = "boot"
	)
	uuid := with(97, append([]byte{0}, slices.Repeat([]byte{0x77}, 16)...)...)
	const uuidText = "77777777-7777-7777-7777-777777777777"
	for _, row := range []struct {
		role resource.SegmentRole
		mac  string
		more []string // MACs of servers besides mac1
		opts []opt
		want string
	}{
		{"", mac1, nil, nil, boot},
		{"", macBMC, nil, nil, silence},
		{"", macAccepted, nil, nil, silence},
		{"", mac2, nil, nil, silence},
		{resource.SegmentBoot, mac1, nil, nil, boot},
		{resource.SegmentBoot, macBMC, nil, nil, silence},
		{resource.SegmentBoot, macBMC, nil, []opt{uuid}, boot},
		{resource.SegmentBMC, mac1, nil, nil, silence},
		{resource.SegmentBMC, mac1, nil, []opt{uuid}, silence},
		{resource.SegmentBMC, macBMC, nil, nil, lease},
		{resource.SegmentBMC, macBMC, nil, []opt{uuid}, lease},
		{resource.SegmentBMC, macBMC, []string{macBMC}, nil, lease}, // nothing boots from it
		{resource.SegmentBMC, macAccepted, nil, nil, lease},
		{resource.SegmentBMC, mac2, nil, nil, silence},
		{resource.SegmentBoth, mac1, nil, nil, boot},
		{resource.SegmentBoth, macBMC, nil, nil, lease},
		{resource.SegmentBoth, macBMC, nil, []opt{uuid}, lease}, // of its host
		{resource.SegmentBoth, macBMC, []string{macBMC}, nil, boot},
		{resource.SegmentBoth, macAccepted, nil, nil, lease},
		{resource.SegmentBoth, mac2, nil, nil, silence},
		{resource.SegmentBoth, mac2, nil, []opt{uuid}, boot},
		{"storage", mac1, nil, nil, silence},
		{"storage", macBMC, nil, nil, silence},
	} {
		t.Run(string(row.role)+" "+row.mac, func(t *testing.T) {
			w := newWorld(t, protocol.BootAnswer{})
			resolver := &known{
				fixedResolver: fixedResolver{seg: withRole(row.role), answer: protocol.BootAnswer{
					Action: protocol.AnswerBoot, Server: "s1", Token: "tok3n", File: "boot.efi",
				}},
				macs: append(row.more, mac1), uuids: []string{uuidText},
			}
			w.restart(t, func(c *Config) { c.Resolver = resolver })
			opts := append(row.opts, withText(60, "HTTPClient:Arch:00016:UNDI:003000"))
			reply, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, row.mac, opts...))
			got := silence
			if reply != nil {
				if got = lease; reply.Options.Has(dhcpv4.OptionBootfileName) {
					got = boot
				}
			}
			if got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
			if row.want == silence && len(w.pool.ByAddr) != 0 {
				t.Error("silence holds an address")
			}
		})
	}
}

// TestBMCsLease takes a BMC that says it boots through its life: nothing in it is
// about booting, each lease is on disk and told before the ACK, and it has the same
// address after a restart.
func TestBMCsLease(t *testing.T) {
	for _, role := range []resource.SegmentRole{resource.SegmentBMC, resource.SegmentBoth} {
		t.Run(string(role), func(t *testing.T) {
			w := newWorld(t, protocol.BootAnswer{Action: protocol.AnswerSilence})
			w.resolver.seg = withRole(role)
			var granted []netboot.Lease
			w.cfg.Granted = func(l netboot.Lease) { granted = append(granted, l) }
			all := []opt{withText(60, "PXEClient:Arch:00007:UNDI:003000"), with(55, 1, 3, 6, 43, 60, 66, 67)}
			ask := func(kind dhcpv4.MessageType, opts ...opt) *dhcpv4.DHCPv4 {
				reply, _ := w.send(t, client(kind, macBMC, append(opts, all...)...))
				if reply == nil {
					t.Fatalf("%s gets silence", kind)
				}
				for _, code := range []uint8{6, 43, 60, 66, 67} {
					if reply.Options.Has(dhcpv4.GenericOptionCode(code)) {
						t.Errorf("%s has option %d", reply.MessageType(), code)
					}
				}
				if reply.BootFileName != "" || !reply.ServerIPAddr.IsUnspecified() || reply.ServerHostName != "" {
					t.Errorf("%s has file %q, siaddr %s, sname %q", reply.MessageType(), reply.BootFileName, reply.ServerIPAddr, reply.ServerHostName)
				}
				return reply
			}
			ip := ask(dhcpv4.MessageTypeDiscover).YourIPAddr.String()
			if ack := ask(asking, withIP(54, ours), withIP(50, ip)); ack.YourIPAddr.String() != ip {
				t.Fatalf("granted %s", ack.YourIPAddr)
			}
			l, ok := w.leases.get(ip)
			if !ok || l.MAC != macBMC || l.Server != "" || !l.Expires.Equal(w.clock.Add(time.Hour)) {
				t.Errorf("stored %+v", l)
			}
			w.clock = w.clock.Add(time.Minute)
			ask(asking, ciaddr(ip))          // RENEWING
			ask(asking, ciaddr(ip), flagged) // REBINDING
			ask(dhcpv4.MessageTypeInform, ciaddr(ip))
			if len(granted) != 3 || granted[0] != l || !granted[2].Expires.After(l.Expires) {
				t.Errorf("told %+v", granted)
			}
			w.restart(t)
			if ack := ask(asking, withIP(50, ip)); ack.MessageType() != dhcpv4.MessageTypeAck {
				t.Errorf("INIT-REBOOT after a restart gets %s", ack.MessageType())
			}
			w.resolver.seg.BMCPrefixes = nil
			if reply, _ := w.send(t, client(asking, macBMC, ciaddr(ip))); reply != nil {
				t.Errorf("who is not listed any more gets %s", reply.MessageType())
			}
		})
	}
}

// TestBMCsDNS: a BMC gets the resolvers of the segment and no other.
func TestBMCsDNS(t *testing.T) {
	w := newWorld(t, protocol.BootAnswer{})
	w.resolver.seg = withRole(resource.SegmentBMC)
	w.resolver.seg.DNS = w.resolver.seg.Routers
	offer, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, macBMC))
	if dns := offer.DNS(); len(dns) != 1 || dns[0].String() != "10.99.0.254" {
		t.Errorf("DNS %v", dns)
	}
}

// TestRoleChanges: what was frozen for a boot is not served once nothing boots from
// the segment.
func TestRoleChanges(t *testing.T) {
	w := newWorld(t, protocol.BootAnswer{Action: protocol.AnswerBoot, Server: "s1", Token: "one", File: "boot.efi"})
	class := withText(60, "HTTPClient:Arch:00016:UNDI:003000")
	offer, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, macBMC, class))
	w.resolver.seg = withRole(resource.SegmentBMC)
	ack, _ := w.send(t, client(asking, macBMC, class, withIP(54, ours), withIP(50, offer.YourIPAddr.String())))
	if ack == nil || ack.Options.Has(dhcpv4.OptionBootfileName) {
		t.Errorf("got %v", ack)
	}
}

// TestSilenceOnBMCSegment: a host that boots from there is seen, a BMC is no host.
func TestSilenceOnBMCSegment(t *testing.T) {
	w := newWorld(t, protocol.BootAnswer{})
	w.resolver.seg = withRole(resource.SegmentBMC)
	w.send(t, client(dhcpv4.MessageTypeDiscover, macBMC))
	w.send(t, client(dhcpv4.MessageTypeDiscover, mac1))
	if e := w.evidence.all(); len(e) != 1 || e[0].Client.MAC != mac1 || w.resolver.calls != 0 {
		t.Errorf("evidence %+v, %d questions", e, w.resolver.calls)
	}
}
