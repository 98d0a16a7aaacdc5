package dhcp

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/netboot"
	"rackboot/netboot/leasing"
	"rackboot/protocol"
)

// TestBootLoop is quirk 3: a chain that loads itself is refused in the client's own
// form after a number of equal offers, and served again later.
func TestBootLoop(t *testing.T) {
	boot := protocol.BootAnswer{Action: protocol.AnswerBoot, Server: "s1", Token: "one", File: "ipxe.efi"}
	ipxe := []opt{withText(60, "PXEClient:Arch:00007:UNDI:003010"), withText(77, "iPXE")}
	w := newWorld(t, boot)
	x := byte(0)
	boots := func(opts ...opt) bool {
		x++
		offer, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, mac1, append(opts, xid(x))...))
		if offer == nil {
			t.Fatal("silence")
		}
		if refused := offer.BootFileName == ""; refused && offer.Options.Has(dhcpv4.OptionBootfileName) {
			t.Fatal("half a refusal")
		}
		return offer.BootFileName != ""
	}
	for i := range leasing.MaxOffers {
		if !boots(ipxe...) {
			t.Fatalf("refused at offer %d", i+1)
		}
		for range 3 { // repeats of one exchange are no loop (EDK2 sends four)
			if offer, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, mac1, append(ipxe, xid(x))...)); offer.BootFileName == "" {
				t.Fatal("a repeat is refused")
			}
		}
		ack, _ := w.send(t, client(asking, mac1, append(ipxe, xid(x), withIP(54, ours), withIP(50, offered1))...))
		if ack == nil || ack.BootFileName == "" {
			t.Fatalf("ACK %v", ack)
		}
	}
	for range 3 {
		if boots(ipxe...) {
			t.Fatal("not refused")
		}
	}
	ack, _ := w.send(t, client(asking, mac1, append(ipxe, xid(200), withIP(54, ours), withIP(50, offered1))...))
	if ack == nil || ack.BootFileName != "" {
		t.Errorf("a REQUEST with another xid gets %v", ack)
	}
	if !boots(withText(60, "PXEClient:Arch:00007:UNDI:003000")) {
		t.Error("the ROM before the loader is refused too")
	}
	if got := w.notices.kinds(); !slices.Equal(got, []netboot.NoticeKind{netboot.NoticeBootLoop}) || w.notices.list[0].MAC != mac1 || w.notices.list[0].Server != "s1" {
		t.Errorf("told %+v", w.notices.list)
	}
	if n := testutil.ToFloat64(w.metrics.Loops.WithLabelValues("iPXE")); n != 3 {
		t.Errorf("counted %v", n)
	}
	next := boot
	next.Token = "two"
	w.resolver.set(next)
	if !boots(ipxe...) {
		t.Error("the next attempt is refused")
	}
	w.resolver.set(boot)
	w.clock = w.clock.Add(time.Hour)
	if !boots(ipxe...) {
		t.Error("refused for ever")
	}
}

// TestForeign is quirk 12: another server that a client chose, of whatever machine,
// is told of once an hour, and a flood of forged ones is bounded.
func TestForeign(t *testing.T) {
	w := newWorld(t, protocol.BootAnswer{Action: protocol.AnswerSilence})
	choose := func(server string) { w.send(t, client(asking, mac2, withIP(54, server), withIP(50, "10.99.0.60"))) }
	told := func() int { return len(w.notices.kinds()) }
	choose("10.99.0.8")
	choose("10.99.0.8")
	choose(ours)
	for _, forged := range []string{"127.0.0.1", "255.255.255.255", "224.0.0.1"} {
		choose(forged)
	}
	if n := w.notices.list[0]; told() != 1 || n.Kind != netboot.NoticeForeignServer || n.Address.String() != "10.99.0.8" || n.Segment != "rack1" || !n.At.Equal(w.clock) {
		t.Errorf("told %+v", w.notices.list)
	}
	w.clock = w.clock.Add(foreignAgain)
	if n := w.strangers.count(w.clock); n != 0 {
		t.Errorf("%d servers after an hour", n)
	}
	choose("10.99.0.8")
	if told() != 2 || w.strangers.count(w.clock) != 1 {
		t.Errorf("told %d times", told())
	}
	for i := range 200 {
		choose(fmt.Sprintf("10.99.9.%d", i+1))
	}
	if n := len(w.strangers.seen); n != foreignMax || told() != foreignMax+1 {
		t.Errorf("%d servers, told %d times", n, told())
	}
	if n := testutil.ToFloat64(w.metrics.foreign.WithLabelValues("request")); n != 203 {
		t.Errorf("counted %v", n)
	}
	w.clock = w.clock.Add(2 * foreignAgain)
	choose("10.99.0.9")
	if n := len(w.strangers.seen); n != 1 {
		t.Errorf("%d servers are remembered", n)
	}
}
