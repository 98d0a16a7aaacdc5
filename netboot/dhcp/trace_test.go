package dhcp

import (
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot"
	"rackboot/protocol"
)

// Each packet that the resolver was asked about is told once, with who asked, what was
// decided and what was answered; what was not understood is not.
func TestTrace(t *testing.T) {
	answer := protocol.BootAnswer{Action: protocol.AnswerBoot, Server: "s1", Reason: "first boot granted", Token: "0123456789abcdef", File: "boot.efi"}
	w := newWorld(t, answer)
	var told []netboot.Exchange
	w.restart(t, func(c *Config) { c.Trace = func(e netboot.Exchange) { told = append(told, e) } })
	const mac = "52:54:00:00:00:01"
	class := withText(60, "HTTPClient:Arch:00016:UNDI:003000")
	offer, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, mac, class))
	w.send(t, client(asking, mac, class, withIP(54, ours), withIP(50, offer.YourIPAddr.String())))
	w.handle(t.Context(), []byte("no packet"), testPeer)
	w.resolver.answer = protocol.BootAnswer{Action: protocol.AnswerSilence, Reason: "no server of this rack"}
	w.send(t, client(dhcpv4.MessageTypeDiscover, "52:54:00:00:00:02", class))
	if len(told) != 3 {
		t.Fatalf("%d exchanges: %+v", len(told), told)
	}
	for i, want := range []struct {
		asked, answered string
		action          protocol.AnswerAction
	}{{"discover", resultOffer, protocol.AnswerBoot}, {"request", resultAck, protocol.AnswerBoot}, {"discover", resultSilence, protocol.AnswerSilence}} {
		e := told[i]
		if e.Source != protocol.TraceDHCP || e.Asked != want.asked || e.Answered != want.answered || e.Decision.Action != want.action || e.Client.Class != protocol.ClassHTTPClient || !e.At.Equal(w.clock) || e.V6 {
			t.Errorf("exchange %d: %+v, want %+v", i, e, want)
		}
	}
	if got := told[0].Client.Address.String(); got != offer.YourIPAddr.String() {
		t.Errorf("the address that was offered is %s, told %s", offer.YourIPAddr, got)
	}
}
