package tftp

import (
	"bytes"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

// FuzzServer: packets to the server's port and to a transfer make it neither
// panic nor hang, whatever they are, and what it sends is TFTP. The input is a
// request, and packets for the transfer that it begins, each with its length
// before it.
func FuzzServer(f *testing.F) {
	packets := func(all ...[]byte) (out []byte) {
		for _, p := range all {
			out = append(append(out, byte(len(p))), p...)
		}
		return out
	}
	f.Add(requestPacket("boot.efi", "octet", edk2Options()...), packets(ackPacket(0), ackPacket(4), ackPacket(5), ackPacket(5), ackPacket(9)))
	f.Add(requestPacket("/b/"+testToken+"/boot.efi\xff", "OCTET", option{"tsize", "0"}), packets(errorPacket(errOption, "")))
	f.Add(requestPacket("empty", "octet"), packets(ackPacket(1)))
	f.Add(requestPacket("boot.efi", "octet", option{"timeout", "255"}, option{"windowsize", "64"}, option{"blksize", "8"}), packets([]byte{0}, nil, ackPacket(65535)))
	f.Add(requestPacket("../x", "netascii"), []byte{})
	f.Add([]byte("\x00\x02x\x00octet\x00"), packets([]byte("\x00\x01x\x00octet\x00")))
	f.Add(errorPacket(1, "x"), []byte{200, 1})
	f.Fuzz(func(t *testing.T, request, rest []byte) {
		synctest.Test(t, func(t *testing.T) {
			w := start(t)
			asked := false
			w.net.tap = func(from, _ netip.AddrPort, b []byte) {
				if from.Addr() != serverAddr() {
					return
				}
				n, ok := number(b)
				switch opcode(b) {
				case opData:
					if !ok || len(b) > headerSize+1468 {
						t.Errorf("DATA of %d bytes", len(b))
					}
				case opError:
					if !ok || n > errOption || b[len(b)-1] != 0 {
						t.Errorf("ERROR % x", b)
					}
				case opOACK:
					if b[len(b)-1] != 0 || bytes.Count(b[2:], []byte{0})%2 != 0 {
						t.Errorf("OACK %q", b)
					}
				default:
					t.Errorf("packet % x", b)
				}
				if !asked {
					t.Error("an answer before a request")
				}
			}
			p := newPeer(t, w)
			asked = true
			_, _ = p.sock.WriteToUDPAddrPort(request, netip.AddrPortFrom(serverAddr(), Port))
			p.hear(ms)
			for len(rest) > 0 && p.tid.IsValid() {
				n := min(int(rest[0]), len(rest)-1)
				p.send(rest[1 : 1+n])
				rest = rest[1+n:]
				p.hear(ms)
			}
			if k, _ := parseRequest(request); k == kindOther && p.tid.IsValid() {
				t.Error("what is no request is answered")
			}
			time.Sleep(31 * time.Minute) // beyond every deadline
			w.settled(t)
			if w.count(t, "rackboot_tftp_transfers_total", "panic") != 0 {
				t.Errorf("panic: %s", w.log)
			}
			for _, e := range w.evidence.all() {
				if !bytes.Contains(request, []byte(e.File)) {
					t.Errorf("event %+v", e)
				}
			}
			w.stop()
		})
	})
}
