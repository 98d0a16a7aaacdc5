package dhcp6

import (
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv6"

	"rackboot/netboot"
	"rackboot/protocol"
)

// Each message that the resolver was asked about is told once.
func TestTrace(t *testing.T) {
	w := newWorld(t, boot1())
	var told []netboot.Exchange
	w.restart(t, func(c *Config) { c.Trace = func(e netboot.Exchange) { told = append(told, e) } })
	const mac = "52:54:00:00:00:01"
	w.respond(t.Context(), client(dhcpv6.MessageTypeSolicit, mac, httpClient(), ia(1)).bytes(), peer(), true)
	w.respond(t.Context(), client(dhcpv6.MessageTypeRequest, mac, httpClient(), ours(), ia(1), xid(9)).bytes(), peer(), true)
	w.respond(t.Context(), []byte("none"), peer(), true)
	if len(told) != 2 {
		t.Fatalf("%d exchanges: %+v", len(told), told)
	}
	for i, asked := range []string{typeSolicit, typeRequest} {
		e := told[i]
		if e.Source != protocol.TraceDHCP || !e.V6 || e.Asked != asked || e.Answered == "" || e.Decision.Action != protocol.AnswerBoot || e.Client.MAC != mac || !e.Client.Address.IsValid() {
			t.Errorf("exchange %d: %+v", i, e)
		}
	}
}
