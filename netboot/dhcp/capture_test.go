package dhcp

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/protocol"
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
		{"cap-local.pcapng", map[protocol.ClientClass]int{protocol.ClassPXEClient: 2, protocol.ClassHTTPClient: 3}},
		{"cap-plain.pcapng", map[protocol.ClientClass]int{protocol.ClassPXEClient: 2, protocol.ClassIPXE: 3}},
	} {
		t.Run(row.file, func(t *testing.T) {
			w := newWorld(t, protocol.BootAnswer{Action: protocol.AnswerRefuse, Server: "s1"})
			got := make(map[protocol.ClientClass]int)
			var offered string
			for _, raw := range requests(t, filepath.Join(dir, row.file)) {
				p, err := dhcpv4.FromBytes(raw)
				if err != nil {
					t.Fatal(err)
				}
				class := Classify(p)
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
				switch class {
				case protocol.ClassNone: // an address is all it asked for
				case protocol.ClassHTTPClient:
					if reply.BootFileNameOption() != "http://10.99.0.1:8080/b/refused/refused.efi" {
						t.Errorf("boot file %q", reply.BootFileNameOption())
					}
				case protocol.ClassPXEClient:
					if len(reply.Options.Get(dhcpv4.OptionVendorSpecificInformation)) != 29 {
						t.Errorf("no menu in %s", reply.Summary())
					}
				case protocol.ClassIPXE:
					if reply.BootFileNameOption() != "" || reply.BootFileName != "" {
						t.Error("refused iPXE gets a boot file")
					}
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

// requests reads the payloads to UDP port 67 from a pcapng file of Ethernet
// frames: blocks of {type, length, body, length}; type 6 is an enhanced packet
// whose body has the captured length at 12 and the frame at 20.
func requests(t *testing.T, file string) [][]byte {
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
			if len(frame) > headers && frame[12] == 8 && frame[13] == 0 && frame[23] == 17 && binary.BigEndian.Uint16(frame[36:]) == portServer {
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
