package firmware

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/integration/netns"
)

// captureOf is the name of the process that records what a namespace sees.
func captureOf(ns *netns.Namespace) string { return "tcpdump-" + ns.Name }

// capture records packets of a namespace in the run's folder: the beginning of
// each, enough for all of DHCP, and not without end.
func (s *site) capture(ctx context.Context, t *testing.T, ns *netns.Namespace, device string) string {
	t.Helper()
	file := s.path(ns.Name + ".pcap")
	s.start(t, ns, captureOf(ns), false, "tcpdump",
		"-i", device, "-n", "-U", "-s", "640", "-c", "100000", "-Z", "root", "-w", file)
	s.until(ctx, t, 30*time.Second, "capture in "+ns.Name, func(context.Context) (bool, error) {
		return strings.Contains(s.read(captureOf(ns)+".log"), "listening on"), nil
	})
	return file
}

// frames are the packets of a capture. The last may be half written.
func frames(t *testing.T, file string) [][]byte {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// pcap-savefile(5): microseconds, in the byte order of the host.
	const header, record = 24, 16
	if len(raw) < header || binary.LittleEndian.Uint32(raw) != 0xa1b2c3d4 {
		t.Fatalf("%s is not a capture", file)
	}
	var out [][]byte
	for raw = raw[header:]; len(raw) >= record; {
		n := int(binary.LittleEndian.Uint32(raw[8:]))
		if len(raw) < record+n {
			break
		}
		out = append(out, raw[record:record+n])
		raw = raw[record+n:]
	}
	return out
}

// asked is what one MAC address asked the network for in a capture of an Ethernet
// interface.
type asked struct {
	boots int // DHCP transactions as a UEFI HTTP client
	other int // DHCP transactions otherwise
	files int // boot files, by GET
}

const (
	etherLen  = 14
	protoTCP  = 6
	protoUDP  = 17
	portDHCP  = 67
	udpHeader = 8
)

// asks reads a capture. DHCP is told apart by the client's address in it, HTTP by
// the sender's.
func asks(t *testing.T, file string) map[string]*asked {
	t.Helper()
	out := map[string]*asked{}
	of := func(mac string) *asked {
		if out[mac] == nil {
			out[mac] = &asked{}
		}
		return out[mac]
	}
	seen := map[string]bool{}
	for _, f := range frames(t, file) {
		if len(f) < etherLen+20 || binary.BigEndian.Uint16(f[12:]) != 0x0800 {
			continue
		}
		ip := f[etherLen:]
		payload := ip[min(len(ip), int(ip[0]&15)*4):]
		switch {
		case ip[9] == protoUDP && len(payload) > udpHeader && binary.BigEndian.Uint16(payload[2:]) == portDHCP:
			p, err := dhcpv4.FromBytes(payload[udpHeader:])
			if err != nil {
				t.Fatalf("%s: DHCP: %v", file, err)
			}
			mac, boot := p.ClientHWAddr.String(), strings.HasPrefix(p.ClassIdentifier(), "HTTPClient")
			key := mac + p.TransactionID.String()
			switch {
			case seen[key]:
			case mac != net.HardwareAddr(f[6:12]).String():
				// The agent looks for other servers: by its own frame, for a client that is not
				// there.
			case boot:
				of(mac).boots++
			default:
				of(mac).other++
			}
			seen[key] = true
		case ip[9] == protoTCP && len(payload) > 20:
			data := payload[min(len(payload), int(payload[12]>>4)*4):]
			// Ports and sequence number: a segment that TCP sends again is one question still.
			key := string(f[6:12]) + string(payload[:8])
			if bytes.HasPrefix(data, []byte("GET /b/")) && !bytes.HasPrefix(data, []byte("GET /b/refused/")) && !seen[key] {
				of(net.HardwareAddr(f[6:12]).String()).files++
				seen[key] = true
			}
		}
	}
	return out
}
