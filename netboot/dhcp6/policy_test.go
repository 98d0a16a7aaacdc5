package dhcp6

import (
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/insomniacslk/dhcp/iana"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/netboot"
	"rackboot/netboot/leasing"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestPolicy: what the segment and the resolver say, and what becomes of a SOLICIT
// and an INFORMATION-REQUEST: the results, and whether there is a reply.
func TestPolicy(t *testing.T) {
	silence := protocol.BootAnswer{Action: protocol.AnswerSilence}
	for _, row := range []struct {
		name   string
		answer protocol.BootAnswer
		change func(*fixedResolver)
		asks   string // result of SOLICIT
		inform string
	}{
		{"stateful", lease1(), func(*fixedResolver) {}, resultAdvertise, resultReply},
		{"unknown machine", silence, func(*fixedResolver) {}, resultSilence, resultSilence},
		{"no answer at all", protocol.BootAnswer{}, func(*fixedResolver) {}, resultSilence, resultSilence},
		{"stateless", boot1(), func(f *fixedResolver) { f.seg.Mode = resource.IPv6Stateless }, resultIgnored, resultReply},
		{"none", boot1(), func(f *fixedResolver) { f.seg.Mode = resource.IPv6None }, resultSilence, resultSilence},
		{"a newer hub's mode", boot1(), func(f *fixedResolver) { f.seg.Mode = "proxy" }, resultSilence, resultSilence},
		{"not synced", boot1(), func(f *fixedResolver) { f.noSeg = true }, resultNoSegment, resultNoSegment},
		{"IPv4 only", boot1(), func(f *fixedResolver) { f.seg.Address = addr("10.0.0.1") }, resultNoSegment, resultNoSegment},
		{"no pool", lease1(), func(f *fixedResolver) { f.seg.PoolTo = addr("2001:db8::1") }, resultExhausted, resultReply},
		{"no pool for a guest", protocol.BootAnswer{Action: protocol.AnswerLease}, func(f *fixedResolver) { f.seg.PoolTo = addr("2001:db8::1") }, resultGuests, resultReply},
		{"base URL with a name", boot1(), func(f *fixedResolver) { f.seg.BaseURL = "http://boot.example" }, resultUnsendable, resultUnsendable},
		{"base URL with IPv4", boot1(), func(f *fixedResolver) { f.seg.BaseURL = "http://10.0.0.1" }, resultUnsendable, resultUnsendable},
		{"link-local base URL", boot1(), func(f *fixedResolver) { f.seg.BaseURL = "http://[fe80::1]" }, resultUnsendable, resultUnsendable},
		{"a plain lease needs no base URL", lease1(), func(f *fixedResolver) { f.seg.BaseURL = "boot" }, resultAdvertise, resultReply},
		{"base URL with a port", boot1(), func(f *fixedResolver) { f.seg.BaseURL = "http://[2001:db8::1]:8080" }, resultAdvertise, resultReply},
		{"a BMC segment", boot1(), func(f *fixedResolver) { f.in.Role = resource.SegmentBMC }, resultSilence, resultSilence},
		{"a BMC", silence, func(f *fixedResolver) { f.in.Role, f.in.BMCMACs = resource.SegmentBMC, []string{mac1} }, resultAdvertise, resultReply},
		{"a BMC among servers", silence, func(f *fixedResolver) { f.in.Role, f.in.BMCMACs = resource.SegmentBoth, []string{mac1} }, resultAdvertise, resultReply},
		{"a newer hub's role", boot1(), func(f *fixedResolver) { f.in.Role = "storage" }, resultSilence, resultSilence},
		{"names that do not fit", boot1(), func(f *fixedResolver) {
			for range 80 {
				f.seg.DNS = append(f.seg.DNS, addr("2001:db8::53"))
			}
		}, resultUnsendable, resultUnsendable},
	} {
		w := newWorld(t, row.answer)
		row.change(w.resolver)
		for kind, want := range map[dhcpv6.MessageType]string{dhcpv6.MessageTypeSolicit: row.asks, dhcpv6.MessageTypeInformationRequest: row.inform} {
			p := client(kind, mac1, httpClient())
			if kind == dhcpv6.MessageTypeSolicit {
				ia(1)(p)
			}
			m := w.ask(t, p)
			if n := testutil.ToFloat64(w.metrics.Packets.WithLabelValues(typeLabel(kind), want)); n != 1 {
				t.Errorf("%s: %s is not %s", row.name, kind, want)
			}
			answered := want == resultReply || want == resultAdvertise || want == resultExhausted
			if (m != nil) != answered {
				t.Errorf("%s: %s gets %v", row.name, kind, m)
			}
			if m != nil && row.answer.Action != protocol.AnswerBoot && m.Options.BootFileURL() != "" {
				t.Errorf("%s: %s gets %s", row.name, kind, m.Options.BootFileURL())
			}
			if want == resultExhausted && (iaStatus(m) != iana.StatusNoAddrsAvail || m.GetOneOption(dhcpv6.OptionPreference) != nil) {
				t.Errorf("%s: %s", row.name, m.Summary()) // RFC 8415 section 18.3.9: others may have one
			}
		}
	}
}

// TestRapidCommit: RFC 8415 section 18.3.1, if asked and allowed.
func TestRapidCommit(t *testing.T) {
	w := newWorld(t, boot1())
	w.resolver.seg.RapidCommit = true
	if m := w.ask(t, client(dhcpv6.MessageTypeSolicit, mac2, ia(1))); m.MessageType != dhcpv6.MessageTypeAdvertise {
		t.Errorf("not asked: %s", m.MessageType)
	}
	m := w.ask(t, client(dhcpv6.MessageTypeSolicit, mac1, with(dhcpv6.OptionRapidCommit), httpClient(), ia(1)))
	if m.MessageType != dhcpv6.MessageTypeReply || m.GetOneOption(dhcpv6.OptionRapidCommit) == nil || m.Options.BootFileURL() == "" {
		t.Errorf("asked: %s", m.Summary())
	}
	if l, ok := w.leases.get(leased(m)); !ok || l.Client != mac1 {
		t.Errorf("on disk %+v", l)
	}
	w.leases.broken = true
	if m := w.ask(t, client(dhcpv6.MessageTypeSolicit, mac1, with(dhcpv6.OptionRapidCommit), ia(1))); m != nil {
		t.Error("granted without the disk")
	}
}

// TestBootLoop: who loads itself again and again is refused, and somebody told.
func TestBootLoop(t *testing.T) {
	w := newWorld(t, boot1())
	var last string
	for i := range leasing.MaxOffers + 1 {
		if m := w.ask(t, client(dhcpv6.MessageTypeSolicit, mac1, httpClient(), ia(1), xid(byte(i)))); m != nil {
			last = m.Options.BootFileURL()
		}
		if want := i == leasing.MaxOffers; (last == "http://[2001:db8::1]/b/refused/refused.efi") != want {
			t.Fatalf("exchange %d: %s", i, last)
		}
	}
	if k := w.notices.kinds(); len(k) != 1 || k[0] != netboot.NoticeBootLoop {
		t.Errorf("told %v", k)
	}
	w.clock = w.clock.Add(time.Hour)
	if m := w.ask(t, client(dhcpv6.MessageTypeSolicit, mac1, httpClient(), ia(1), xid(99))); m.Options.BootFileURL() != "http://[2001:db8::1]/b/tok/uki.efi" {
		t.Error("refused for ever")
	}
}

// TestClassify: rows of fact 1.3, and of forms that others send.
func TestClassify(t *testing.T) {
	for _, row := range []struct {
		name string
		opts []opt
		want protocol.ClientClass
	}{
		{"EDK2", []opt{httpClient()}, protocol.ClassHTTPClient},
		{"another enterprise number", []opt{vendor(0, "HTTPClient")}, protocol.ClassHTTPClient},
		{"PXE", []opt{pxeClient()}, protocol.ClassPXEClient},
		{"HTTPClient with a PXE architecture", []opt{vendor(87, "HTTPClient"), with(dhcpv6.OptionClientArchType, 0, 7)}, protocol.ClassHTTPClient},
		{"iPXE says PXEClient too", []opt{pxeClient(), with(dhcpv6.OptionUserClass, 0, 4, 'i', 'P', 'X', 'E')}, protocol.ClassIPXE},
		{"iPXE among others", []opt{with(dhcpv6.OptionUserClass, 0, 1, 'x', 0, 4, 'i', 'P', 'X', 'E')}, protocol.ClassIPXE},
		{"gPXE", []opt{with(dhcpv6.OptionUserClass, 0, 4, 'g', 'P', 'X', 'E')}, protocol.ClassIPXE},
		{"a user class that is cut off", []opt{with(dhcpv6.OptionUserClass, 0, 9, 'i', 'P', 'X', 'E'), pxeClient()}, protocol.ClassPXEClient},
		{"a second vendor class", []opt{vendor(9, "docsis"), pxeClient()}, protocol.ClassPXEClient},
		{"U-Boot", []opt{pxeClient(), with(dhcpv6.OptionClientArchType, 0, 22)}, protocol.ClassUBoot},
		{"an empty vendor class", []opt{with(dhcpv6.OptionVendorClass, 0, 0)}, protocol.ClassNone},
		{"an operating system", nil, protocol.ClassNone},
	} {
		if got := classify(client(dhcpv6.MessageTypeSolicit, mac1, row.opts...).options); got != row.want {
			t.Errorf("%s: %s", row.name, got)
		}
	}
	w := newWorld(t, boot1())
	w.ask(t, client(dhcpv6.MessageTypeSolicit, mac1, httpClient(), ia(1)))
	c, ev := w.resolver.clients[0], w.evidence.events
	if a, ok := c.Arch(); c.MAC != mac1 || c.XID != 0x010203 || c.Segment != "rack1" || !ok || !a.HTTP || a.CPU != "amd64" {
		t.Errorf("asked for %+v", c)
	}
	if len(ev) != 1 || ev[0].Kind != protocol.EvidenceDHCP || ev[0].Client.Class != protocol.ClassHTTPClient || !ev[0].Client.Address.IsValid() {
		t.Errorf("recorded %+v", ev)
	}
}
