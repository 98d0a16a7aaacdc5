package tftp

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
)

// TestCapturedFirmware replays what OVMF sent to another server, packet by packet,
// and looks at what it would get from us: a size probe, ended by ERROR 8, and then
// the file.
func TestCapturedFirmware(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "netboot-captures")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the firmware captures are not next to the repository")
	}
	for _, file := range []string{"cap-opt60with43.pcapng", "cap-plain.pcapng"} {
		t.Run(file, func(t *testing.T) {
			sent := sentByClient(t, filepath.Join(dir, file))
			synctest.Test(t, func(t *testing.T) {
				w := start(t)
				const blksize = 1468
				acks := 0
				for _, b := range sent {
					if opcode(b) == opAck {
						acks++
					}
				}
				blocks := acks - 1 // the first is of the OACK
				w.files.files["boot.efi"] = pattern((blocks-1)*blksize + 1)
				p := newPeer(t, w)
				var said []string
				for _, b := range sent {
					switch opcode(b) {
					case opRead:
						p.sock = w.net.open(clientAddr(), 0) // it takes a new port
						_, _ = p.sock.WriteToUDPAddrPort(b, w.server.gates[0].door.(*packetDoor).PacketConn.(*end).addr)
					case opAck:
						// The other server knew no windows: its client said an ACK for each block.
						if n, _ := number(b); n%4 != 0 && int(n) != blocks {
							continue
						}
						p.send(b)
					default:
						p.send(b)
					}
					said = append(said, p.hear(ms)...)
				}
				if n := len(said); n != blocks+2 || said[0] != "oack" || said[1] != "oack" || said[2] != "data 1" || !slices.Contains(said, "data 4") {
					t.Errorf("%d blocks; it would hear %q", blocks, said)
				}
				p.ends(resultDone)
				if w.count(t, "rackboot_tftp_transfers_total", "probed") != 1 || w.count(t, "rackboot_tftp_retransmits_total", "") != 0 {
					t.Error("the size probe is not counted as one, or blocks were sent twice")
				}
				w.stop()
			})
		})
	}
}

// sentByClient reads the payloads of what went to port 69, and from the same ports
// on, from a pcapng file of Ethernet frames: blocks of {type, length, body, length};
// type 6 is an enhanced packet whose body has the captured length at 12 and the
// frame at 20.
func sentByClient(t *testing.T, file string) [][]byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	clients := make(map[uint16]bool)
	for le, be := binary.LittleEndian, binary.BigEndian; len(data) >= 12; {
		n := le.Uint32(data[4:])
		if n < 12 || int(n) > len(data) {
			t.Fatalf("%s: block of %d bytes", file, n)
		}
		if le.Uint32(data) == 6 {
			frame := data[28 : 28+le.Uint32(data[20:])]
			const headers = 14 + 20 + 8 // Ethernet, IPv4 without options, UDP
			if len(frame) > headers && frame[12] == 8 && frame[13] == 0 && frame[23] == 17 {
				from, to := be.Uint16(frame[34:]), be.Uint16(frame[36:])
				if to == Port {
					clients[from] = true
				}
				if clients[from] {
					out = append(out, frame[headers:headers+int(be.Uint16(frame[38:]))-8])
				}
			}
		}
		data = data[n:]
	}
	if len(out) == 0 {
		t.Fatalf("%s has no TFTP request", file)
	}
	return out
}
