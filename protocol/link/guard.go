package link

import (
	"fmt"
	"net"
	"time"
)

// guard protects both ends of a connection from what paho leaves open. Each
// write has a deadline, also of packets that are not PUBLISH: a peer that is
// gone must not stop the ping. And a packet above maxPacket ends the
// connection before paho makes room for the up to 256 MiB that its header may
// state (MQTT 3.1.1 §2.2.3), so that a broker cannot exhaust an agent's memory.
type guard struct {
	net.Conn
	frame frame
}

func (g *guard) Write(p []byte) (int, error) {
	if err := g.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return 0, err
	}
	return g.Conn.Write(p)
}

func (g *guard) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	if err := g.frame.follow(p[:n]); err != nil {
		return 0, err
	}
	return n, err
}

// frame follows the fixed headers of a stream of MQTT packets.
type frame struct {
	body   int // bytes of the present packet's body that are still to come
	length int // remaining length read so far
	digits int // bytes of the remaining length read so far, plus 1 after the type
}

func (f *frame) follow(p []byte) error {
	for len(p) > 0 {
		if f.body > 0 {
			n := min(f.body, len(p))
			f.body -= n
			p = p[n:]
			continue
		}
		b := p[0]
		p = p[1:]
		if f.digits == 0 { // packet type and flags
			f.digits = 1
			continue
		}
		if f.digits > 4 {
			return fmt.Errorf("packet length is longer than 4 bytes")
		}
		f.length |= int(b&0x7f) << (7 * (f.digits - 1))
		f.digits++
		if b&0x80 != 0 {
			continue
		}
		if f.length > maxPacket {
			return fmt.Errorf("packet of %d bytes, the limit is %d", f.length, maxPacket)
		}
		*f = frame{body: f.length}
	}
	return nil
}
