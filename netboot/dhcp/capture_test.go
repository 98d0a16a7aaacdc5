package dhcp

import (
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestCapturedFirmware replays what OVMF sent to another server (DISCOVER and
// REQUEST, as bytes) and looks at what it would get from us.
func TestCapturedFirmware(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "netboot-captures")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the firmware captures are not next to the repository")
	}
	for _, row := range []struct {
		file string
		want map[protocol.ClientClass]int // requests by class
	}{
		{"cap-h404.pcapng", map[protocol.ClientClass]int{protocol.ClassHTTPClient: 2}},
		{"cap.pcapng", map[protocol.ClientClass]int{protocol.ClassHTTPClient: 2, protocol.ClassIPXE: 3}},
		{"cap-hname.pcapng", map[protocol.ClientClass]int{protocol.ClassHTTPClient: 3}},
		{"cap-plainlease.pcapng", map[protocol.ClientClass]int{protocol.ClassPXEClient: 4, protocol.ClassHTTPClient: 4}},
		{"cap-local.pcapng", map[protocol.ClientClass]int{protocol.ClassPXEClient: 2, protocol.ClassHTTPClient: 3}},
		{"cap-plain.pcapng", map[protocol.ClientClass]int{protocol.ClassPXEClient: 2, protocol.ClassIPXE: 3}},
	} {
		t.Run(row.file, func(t *testing.T) {
			w := newWorld(t, protocol.BootAnswer{Action: protocol.AnswerRefuse, Server: "s1"})
			got := make(map[protocol.ClientClass]int)
			var offered string
			for _, raw := range requests(t, filepath.Join(dir, row.file), portServer) {
				p, err := dhcpv4.FromBytes(raw)
				if err != nil {
					t.Fatal(err)
				}
				class := classify(p)
				got[class]++
				if p.MessageType() == dhcpv4.MessageTypeRequest { // it took the other server's offer
					withIP(50, offered)(p)
					withIP(54, ours)(p)
				}
				reply, to := w.send(t, p)
				if reply == nil {
					t.Fatalf("%s of %s gets silence", p.MessageType(), class)
				}
				if offered == "" {
					offered = reply.YourIPAddr.String()
				}
				if reply.YourIPAddr.String() != offered {
					t.Errorf("one MAC, two addresses: %s and %s", offered, reply.YourIPAddr)
				}
				if reply.TransactionID != p.TransactionID || reply.Flags != p.Flags || to.String() != "255.255.255.255:68" {
					t.Errorf("reply does not fit: %s to %s", reply, to)
				}
				menu := len(reply.Options.Get(dhcpv4.OptionVendorSpecificInformation))
				url := map[protocol.ClientClass]string{protocol.ClassHTTPClient: "http://10.99.0.1:8080/b/refused/refused.efi"}[class]
				if reply.BootFileNameOption() != url || reply.BootFileName != url {
					t.Errorf("%s is refused by the file %q", class, reply.BootFileNameOption())
				}
				if (menu == 29) != (class == protocol.ClassPXEClient) {
					t.Errorf("%s is refused by a menu of %d bytes", class, menu)
				}
			}
			for class, n := range row.want {
				if got[class] != n {
					t.Errorf("%d requests of %s, want %d", got[class], class, n)
				}
			}
		})
	}
}

// TestCapturedBoot serves what OVMF and iPXE sent, beside and instead of another
// server's leases, and at port 4011, where OVMF asked when an offer of PXEClient came
// without option 43.
func TestCapturedBoot(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "netboot-captures")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the firmware captures are not next to the repository")
	}
	for _, row := range []struct {
		file string
		port uint16
		mode resource.ServiceMode
		want map[protocol.ClientClass]int // answers that boot, by class
	}{
		{"cap-plain.pcapng", portServer, resource.ServiceFull, map[protocol.ClientClass]int{protocol.ClassPXEClient: 2, protocol.ClassIPXE: 3}},
		{"cap-plain.pcapng", portServer, resource.ServiceProxy, map[protocol.ClientClass]int{protocol.ClassPXEClient: 1, protocol.ClassIPXE: 2}},
		{"cap-opt60with43.pcapng", portServer, resource.ServiceFull, map[protocol.ClientClass]int{protocol.ClassPXEClient: 2, protocol.ClassIPXE: 2}},
		{"cap-h404.pcapng", portServer, resource.ServiceProxy, map[protocol.ClientClass]int{protocol.ClassHTTPClient: 1}},
		{"cap-opt60no43.pcapng", portBoot, resource.ServiceFull, map[protocol.ClientClass]int{protocol.ClassPXEClient: 4}},
		{"cap-opt60no43.pcapng", portBoot, resource.ServiceProxy, map[protocol.ClientClass]int{protocol.ClassPXEClient: 4}},
	} {
		t.Run(row.file+" "+string(row.mode), func(t *testing.T) {
			w := newWorld(t, protocol.BootAnswer{Action: protocol.AnswerBoot, Server: "s1", Token: "t", File: "f.efi"})
			w.resolver.svc.Mode = row.mode
			got := make(map[protocol.ClientClass]int)
			offered := offered1
			for _, raw := range requests(t, filepath.Join(dir, row.file), row.port) {
				p, err := dhcpv4.FromBytes(raw)
				if err != nil {
					t.Fatal(err)
				}
				if p.MessageType() == dhcpv4.MessageTypeRequest && row.port == portServer {
					withIP(50, offered)(p)
					withIP(54, ours)(p)
				}
				out := w.respond(t.Context(), p.ToBytes(), testPeer, row.port == portBoot)
				if out.raw == nil {
					continue
				}
				reply, err := dhcpv4.FromBytes(out.raw)
				if err != nil {
					t.Fatal(err)
				}
				if reply.MessageType() == dhcpv4.MessageTypeOffer {
					offered = reply.YourIPAddr.String()
				}
				class := classify(p)
				want := map[bool]string{true: "http://10.99.0.1:8080/b/t/f.efi", false: "b/t/f.efi"}[class != protocol.ClassPXEClient]
				if class == protocol.ClassNone {
					want = ""
				}
				if reply.BootFileName != want || want != "" && reply.ServerIPAddr.String() != ours {
					t.Errorf("%s gets %s", class, reply.Summary())
				}
				if want != "" {
					got[class]++
				}
			}
			if !maps.Equal(got, row.want) {
				t.Errorf("served %v, want %v", got, row.want)
			}
		})
	}
}

// requests reads the payloads to a UDP port from a pcapng file of Ethernet
// frames: blocks of {type, length, body, length}; type 6 is an enhanced packet
// whose body has the captured length at 12 and the frame at 20.
func requests(t *testing.T, file string, port uint16) [][]byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for le := binary.LittleEndian; len(data) >= 12; {
		n := le.Uint32(data[4:])
		if n < 12 || int(n) > len(data) {
			t.Fatalf("%s: block of %d bytes", file, n)
		}
		if le.Uint32(data) == 6 {
			frame := data[28 : 28+le.Uint32(data[20:])]
			const headers = 14 + 20 + 8 // Ethernet, IPv4 without options, UDP
			if len(frame) > headers && frame[12] == 8 && frame[13] == 0 && frame[23] == 17 && binary.BigEndian.Uint16(frame[36:]) == port {
				out = append(out, frame[headers:])
			}
		}
		data = data[n:]
	}
	if len(out) == 0 {
		t.Fatalf("%s has no DHCP request", file)
	}
	return out
}
