package dhcp

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot"
	"rackboot/protocol"
)

func leaseFor(mac string, addr netip.Addr, until time.Time) netboot.Lease {
	return netboot.Lease{Segment: "rack1", MAC: mac, Address: addr, Expires: until}
}

// TestUnsendable: what firmware would misread is not sent at all.
func TestUnsendable(t *testing.T) {
	http := withText(60, "HTTPClient:Arch:00016:UNDI:003000")
	size := func(n uint16) opt { return with(57, byte(n>>8), byte(n)) }
	for _, row := range []struct {
		name string // and where the limit comes from
		file string
		base string
		opts []opt
		sent bool
	}{
		{"URL of 254 bytes and its NUL", strings.Repeat("f", 254-len("http://10.99.0.1:8080/b/t/")), "", []opt{http, size(1472)}, true},
		{"URL of 255 bytes: the NUL is the 256th (EDK2 joins no options)", strings.Repeat("f", 255-len("http://10.99.0.1:8080/b/t/")), "", []opt{http, size(1472)}, false},
		{"host name in the base URL (quirk 19)", "f.efi", "http://boot.example:8080", []opt{http}, false},
		{"malformed base URL", "f.efi", "10.99.0.1:8080", []opt{http}, false},
		{"more than the client's option 57 less headers", strings.Repeat("f", 200), "", []opt{http, size(576), with(61, bytes.Repeat([]byte{1}, 200)...)}, false},
		{"the same, and a larger option 57", strings.Repeat("f", 200), "", []opt{http, size(1472), with(61, bytes.Repeat([]byte{1}, 200)...)}, true},
		{"option 57 below 576 counts as 576 (RFC 2132 section 9.10)", "f.efi", "", []opt{http, size(64)}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t, protocol.BootAnswer{Action: protocol.AnswerBoot, Token: "t", File: row.file})
			if row.base != "" {
				w.resolver.seg.BaseURL = row.base
			}
			reply, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, mac1, row.opts...))
			if (reply != nil) != row.sent {
				t.Errorf("sent %v, want %v", reply != nil, row.sent)
			}
		})
	}
}

// TestOSKeepsLease: a broken base URL costs the report URL, not the lease.
func TestOSKeepsLease(t *testing.T) {
	a := lease1()
	a.Token = "t"
	w := newWorld(t, a)
	w.resolver.seg.BaseURL = "http://boot.example"
	reply, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, mac1, with(55, 67)))
	if reply == nil || reply.Options.Has(dhcpv4.OptionBootfileName) {
		t.Errorf("got %v", reply)
	}
}

// TestFileField: `file` holds the URL if it fits with its NUL, and is empty if not.
func TestFileField(t *testing.T) {
	for n, want := range map[int]bool{127: true, 128: false} {
		file := strings.Repeat("f", n-len("http://10.99.0.1:8080/b/t/"))
		w := newWorld(t, protocol.BootAnswer{Action: protocol.AnswerBoot, Token: "t", File: file})
		reply, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, mac1, withText(60, "HTTPClient")))
		if got := reply.BootFileName != ""; got != want {
			t.Errorf("URL of %d bytes: file is set: %v", n, got)
		}
	}
}

func TestMalformed(t *testing.T) {
	w := newWorld(t, lease1())
	good := client(dhcpv4.MessageTypeDiscover, mac1)
	change := func(f func(*dhcpv4.DHCPv4)) []byte {
		p := *good
		p.Options = dhcpv4.Options{53: {1}}
		f(&p)
		return p.ToBytes()
	}
	for name, raw := range map[string][]byte{
		"empty":            nil,
		"short":            good.ToBytes()[:200],
		"a reply":          change(func(p *dhcpv4.DHCPv4) { p.OpCode = dhcpv4.OpcodeBootReply }),
		"token ring":       change(func(p *dhcpv4.DHCPv4) { p.HWType = 6 }),
		"a multicast MAC":  change(func(p *dhcpv4.DHCPv4) { p.ClientHWAddr = []byte{1, 0, 0, 0, 0, 1} }),
		"an 8-byte MAC":    change(func(p *dhcpv4.DHCPv4) { p.ClientHWAddr = make([]byte, 8) }),
		"BOOTP":            change(func(p *dhcpv4.DHCPv4) { delete(p.Options, 53) }),
		"cut in an option": good.ToBytes()[:242],
		"an OFFER from us": change(func(p *dhcpv4.DHCPv4) { p.Options[53] = []byte{2} }),
	} {
		if reply, _ := w.handle(t.Context(), raw, testPeer); reply != nil {
			t.Errorf("%s is answered", name)
		}
	}
}

func TestNoSegment(t *testing.T) {
	w := newWorld(t, lease1())
	w.resolver.noSeg = true
	if reply, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, mac1)); reply != nil || w.resolver.calls != 0 {
		t.Error("an agent without policy answers")
	}
}
