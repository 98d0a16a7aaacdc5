//go:build host

package firmware

import (
	"net"
	"sync"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

// TestMachinesBroadcastTogether: machines of one host that broadcast on one interface each
// have port 68, and each gets what is broadcast back. It needs root, for the ports, and that
// nobody else serves DHCP on loopback.
func TestMachinesBroadcastTogether(t *testing.T) {
	const machines = 8
	var sockets []*socket
	for i := range machines {
		c := &Client{MAC: net.HardwareAddr{0x52, 0x54, 0, 0, 0, byte(i)}, Interface: "lo"}
		s, err := c.open(t.Context())
		if err != nil {
			t.Fatalf("machine %d: %v", i, err)
		}
		defer func() { _ = s.conn.Close() }()
		sockets = append(sockets, s)
	}
	answer, err := dhcpv4.New()
	if err != nil {
		t.Fatal(err)
	}
	answer.OpCode = dhcpv4.OpcodeBootReply
	var all sync.WaitGroup
	for i, s := range sockets {
		all.Go(func() {
			heard := false
			request := &dhcpv4.DHCPv4{TransactionID: answer.TransactionID, ClientHWAddr: answer.ClientHWAddr}
			err := s.receive(t.Context(), request, tryTimes()[0], func(*dhcpv4.DHCPv4) bool { heard = true; return false })
			if err != nil || !heard {
				t.Errorf("machine %d heard nothing: %v", i, err)
			}
		})
	}
	if err := sockets[0].send(answer); err != nil {
		t.Fatal(err)
	}
	if _, err := sockets[0].conn.WriteTo(answer.ToBytes(), &net.UDPAddr{IP: net.IPv4bcast, Port: portClient}); err != nil {
		t.Fatal(err)
	}
	all.Wait()
}
