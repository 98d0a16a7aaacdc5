package tftp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/netboot"
	"rackboot/protocol"
)

// peer is a client that does one thing at a time, as a test says.
type peer struct {
	*testing.T
	w    *world
	sock *end
	tid  netip.AddrPort
}

func newPeer(t *testing.T, w *world) *peer {
	return &peer{T: t, w: w, sock: w.net.open(clientAddr(), 0)}
}

func (p *peer) request(name string, options ...option) {
	_, _ = p.sock.WriteToUDPAddrPort(requestPacket(name, modeOctet, options...), netip.AddrPortFrom(serverAddr(), Port))
}

func (p *peer) send(b []byte) { _, _ = p.sock.WriteToUDPAddrPort(b, p.tid) }

func (p *peer) ack(n int) { p.send(ackPacket(n)) }

func ackPacket(n int) []byte { return binary.BigEndian.AppendUint16([]byte{0, opAck}, uint16(n)) }

// hear is what comes within a time: "oack", "data 1", "error 0".
func (p *peer) hear(within time.Duration) (said []string) {
	p.Helper()
	_ = p.sock.SetReadDeadline(time.Now().Add(within))
	b := make([]byte, 2000)
	for {
		_, from, err := p.sock.ReadFromUDPAddrPort(b)
		if err != nil {
			return said
		}
		p.tid = from
		n, _ := number(b)
		switch opcode(b) {
		case opOACK:
			said = append(said, "oack")
		case opData:
			said = append(said, fmt.Sprintf("data %d", n))
		case opError:
			said = append(said, fmt.Sprintf("error %d", n))
		}
	}
}

func (p *peer) want(within time.Duration, want ...string) {
	p.Helper()
	if got := p.hear(within); !slices.Equal(got, want) {
		p.Errorf("heard %q, want %q", got, want)
	}
}

func (p *peer) ends(as result) {
	p.Helper()
	p.w.settled(p)
	if p.w.count(p, "rackboot_tftp_transfers_total", string(as)) != 1 {
		p.Errorf("the transfer did not end as %s", as)
	}
	if done := len(p.w.evidence.all()); (as == resultDone) != (done == 1) {
		p.Errorf("%d events after %s", done, as)
	}
	told := p.w.traces.all()
	if !slices.ContainsFunc(told, func(e netboot.Exchange) bool {
		return e.Source == protocol.TraceTFTP && e.Asked == string(as) && e.File != "" && (as != resultDone || e.Bytes > 0)
	}) {
		p.Errorf("told after %s: %+v", as, told)
	}
}

const ms = time.Millisecond

func lockstep() []option { return []option{{"blksize", "1000"}} }
func four() []option     { return []option{{"blksize", "1000"}, {"windowsize", "4"}} }

// TestExchange is what passes on the wire, packet by packet.
func TestExchange(t *testing.T) {
	for _, row := range []struct {
		source string
		change func(*Config)
		do     func(p *peer)
	}{
		{"own timer: OACK, then DATA, each second, five times", nil, func(p *peer) {
			p.request("boot.efi", lockstep()...)
			p.want(2500*ms, "oack", "oack", "oack")
			p.ack(0)
			p.want(time.Minute, "data 1", "data 1", "data 1", "data 1", "data 1", "data 1")
			p.ends(resultTimeout)
			if n := p.w.count(p, "rackboot_tftp_retransmits_total", ""); n != 5 {
				p.Errorf("%d retransmits", n)
			}
		}},
		{"RFC 2349: the client's timeout is the timer", nil, func(p *peer) {
			p.request("boot.efi", option{"timeout", "4"})
			p.want(9*time.Second, "oack", "oack", "oack")
			p.ack(0)
			p.want(9*time.Second, "data 1", "data 1", "data 1")
			p.send(errorPacket(errUndefined, ""))
			p.ends(resultAborted)
		}},
		{"nobody answers at all: no longer than Answer, whatever the timeout", nil, func(p *peer) {
			p.request("boot.efi", option{"timeout", "255"})
			begin := time.Now()
			p.want(300*ms, "oack")
			p.ends(resultTimeout)
			if took := time.Since(begin); took > 31*time.Second {
				p.Errorf("it ended after %s", took)
			}
		}},
		{"RFC 1123 4.2.3.1: a repeated ACK sends nothing", nil, func(p *peer) {
			p.request("boot.efi", lockstep()...)
			p.want(ms, "oack")
			p.ack(0)
			p.ack(0)
			p.want(ms, "data 1")
			p.ack(1)
			p.ack(1)
			p.ack(0)
			p.want(190*ms, "data 2")
			p.send(errorPacket(errUndefined, ""))
			p.ends(resultAborted)
		}},
		{"RFC 6298: a client that answers quickly is sent to again soon, less and less so, and for as long as any", nil, func(p *peer) {
			p.request("boot.efi", lockstep()...)
			p.want(ms, "oack")
			p.ack(0)
			p.want(ms, "data 1")
			begin := time.Now()
			p.ack(1)
			for _, at := range []time.Duration{0, 200 * ms, 600 * ms, 1400 * ms, 2400 * ms, 3400 * ms} {
				p.want(time.Until(begin.Add(at+ms)), "data 2")
			}
			p.hear(time.Until(begin.Add(5990 * ms)))
			p.ack(2)
			p.want(ms, "data 3")
			p.want(7*time.Second, "data 3", "data 3", "data 3", "data 3", "data 3", "data 3", "data 3")
			p.ends(resultTimeout)
		}},
		{"RFC 7440 4: a window at a time", nil, func(p *peer) {
			p.request("boot.efi", four()...)
			p.want(ms, "oack")
			p.ack(0)
			p.want(ms, "data 1", "data 2", "data 3", "data 4")
			p.ack(4)
			p.want(ms, "data 5", "data 6", "data 7", "data 8")
			p.send(errorPacket(errUndefined, ""))
			p.ends(resultAborted)
		}},
		{"RFC 7440 4: an ACK within the window begins the next there, once", nil, func(p *peer) {
			p.request("boot.efi", four()...)
			p.want(ms, "oack")
			p.ack(0)
			p.want(ms, "data 1", "data 2", "data 3", "data 4")
			p.ack(2) // EDK2 says it for each block after the gap
			p.ack(2)
			p.want(ms, "data 3", "data 4", "data 5", "data 6")
			p.ack(6)
			p.want(ms, "data 7", "data 8", "data 9", "data 10")
			p.ack(20) // was never sent
			p.want(190 * ms)
			p.want(20*ms, "data 7", "data 8", "data 9", "data 10")
			p.send(errorPacket(errUndefined, ""))
			p.ends(resultAborted)
		}},
		{"the last window is shorter; the last ACK ends it", nil, func(p *peer) {
			p.w.files.files["six"] = pattern(5500)
			p.request("six", four()...)
			p.want(ms, "oack")
			p.ack(0)
			p.want(ms, "data 1", "data 2", "data 3", "data 4")
			p.ack(4)
			p.want(ms, "data 5", "data 6")
			p.ack(5)
			p.want(ms, "data 6")
			p.ack(6)
			p.ends(resultDone)
		}},
		{"the last ACK is lost: no evidence", nil, func(p *peer) {
			p.request("grub/grub.cfg")
			p.want(time.Minute, "data 1", "data 1", "data 1", "data 1", "data 1", "data 1")
			p.ends(resultTimeout)
		}},
		{"a request that comes twice has one transfer", nil, func(p *peer) {
			p.request("boot.efi", lockstep()...)
			p.request("boot.efi", lockstep()...)
			p.want(ms, "oack")
			if p.w.count(p, "rackboot_tftp_requests_total", "repeated") != 1 {
				p.Error("not counted as repeated")
			}
			p.send(errorPacket(errUndefined, ""))
			p.ends(resultAborted)
		}},
		{"a client that starts over on its port gets a transfer", nil, func(p *peer) {
			p.request("boot.efi", lockstep()...)
			p.want(ms, "oack")
			p.ack(0)
			p.want(ms, "data 1")
			old := p.tid
			p.request("boot.efi", lockstep()...)
			p.want(ms, "oack")
			if p.tid == old {
				p.Error("from the old port")
			}
			p.send(errorPacket(errUndefined, ""))
			p.tid = old
			p.send(errorPacket(errTID, ""))
			p.ends(resultStray)
		}},
		{"RFC 1350 4: a packet from another port gets ERROR 5 and disturbs nothing", nil, func(p *peer) {
			p.request("boot.efi", lockstep()...)
			p.want(ms, "oack")
			other := newPeer(p.T, p.w)
			other.tid = p.tid
			other.ack(0)
			other.want(ms, "error 5")
			other.send(errorPacket(errUndefined, "")) // is not answered, and ends nothing
			other.want(ms)
			for range 3 * maxStrangers {
				other.ack(0)
			}
			if n := len(other.hear(ms)); n >= maxStrangers {
				p.Errorf("%d answers to a stranger", n)
			}
			p.ack(0)
			p.want(ms, "data 1")
			p.send(errorPacket(errUndefined, ""))
			p.ends(resultAborted)
		}},
		{"ERROR 8 after the OACK is no failure", nil, func(p *peer) {
			p.request("boot.efi", lockstep()...)
			p.want(ms, "oack")
			p.send(errorPacket(errOption, "User aborted the transfer"))
			p.ends(resultProbed)
		}},
		{"rubbish to the transfer", nil, func(p *peer) {
			p.request("boot.efi", lockstep()...)
			p.want(ms, "oack")
			for _, b := range []string{"", "\x00", "\x00\x04", "\x00\x04\x00", "\x00\x03\x00\x00", "\x00\x06\x00\x00", "\x00\x01x\x00octet\x00", "\xff\xff\xff\xff"} {
				p.send([]byte(b))
			}
			p.want(900 * ms)
			p.ack(0)
			p.want(ms, "data 1")
			p.send(errorPacket(errUndefined, ""))
			p.ends(resultAborted)
		}},
		{"a file that is shorter than its size is never whole", nil, func(p *peer) {
			p.w.files.short = 1
			p.request("grub/grub.cfg")
			p.want(ms, "error 0")
			p.ends(resultReadError)
		}},
		{"a deadline in all", func(c *Config) { c.Limits.Deadline = 10 * time.Second }, func(p *peer) {
			p.request("boot.efi", lockstep()...)
			p.hear(ms)
			p.ack(0)
			for n := 1; n < 7; n++ {
				p.hear(ms)
				p.ack(n)
				time.Sleep(1500 * ms)
			}
			if said := p.hear(2 * time.Second); len(said) == 0 || said[len(said)-1] != "error 0" {
				p.Errorf("heard %q", said)
			}
			p.ends(resultDeadline)
		}},
		{"the server stops: five seconds, and a word", nil, func(p *peer) {
			p.request("boot.efi", option{"timeout", "60"})
			p.want(ms, "oack")
			p.ack(0)
			p.want(ms, "data 1")
			stopped := make(chan struct{})
			go func() {
				p.w.stop()
				close(stopped)
			}()
			time.Sleep(4 * time.Second)
			p.ack(1)
			p.want(500*ms, "data 2")
			p.want(time.Second, "error 0")
			<-stopped
		}},
		{"a panic costs its transfer", nil, func(p *peer) {
			p.w.files.panic = true
			p.request("boot.efi")
			p.ends(resultPanic)
			p.w.files.panic = false
			if _, err := p.w.client(clientAddr()).fetch("grub/grub.cfg"); err != nil {
				p.Error(err)
			}
		}},
		{"one client has its share, and waits in silence", func(c *Config) { c.Limits.PerClient = 2 }, func(p *peer) {
			for i := range 3 {
				p.request(fmt.Sprintf("boot.efi%s", bytes.Repeat([]byte{0xff}, i)), lockstep()...)
			}
			p.want(ms, "oack", "oack")
			if p.w.count(p, "rackboot_tftp_requests_total", "client") != 1 {
				p.Error("not counted")
			}
		}},
		{"a full server is silent, and serves who waits as soon as a transfer has ended", func(c *Config) { c.Limits.Transfers = 1 }, func(p *peer) {
			p.request("boot.efi", lockstep()...)
			p.want(ms, "oack")
			begin := time.Now()
			b, err := p.w.client(clientAddr(), edk2Options()...).fetch("boot.efi")
			if err != nil || len(b) != 100_000 || time.Since(begin) > 6*time.Second || time.Since(begin) < 5*time.Second { // the first is given up after 6 s
				p.Errorf("%d bytes after %s, %v", len(b), time.Since(begin), err)
			}
			if p.w.count(p, "rackboot_tftp_requests_total", "wait") != 1 || p.w.count(p, "rackboot_tftp_requests_total", "repeated") != 1 {
				p.Error("not counted")
			}
		}},
		{"in the order of asking, and nobody goes before who waits", func(c *Config) { c.Limits.Transfers = 2 }, func(p *peer) {
			stays := newPeer(p.T, p.w)
			for _, running := range []*peer{p, stays} {
				running.request("boot.efi", option{"timeout", "60"})
				running.want(ms, "oack")
			}
			second, third := newPeer(p.T, p.w), newPeer(p.T, p.w)
			second.request("boot.efi", lockstep()...)
			synctest.Wait()
			third.request("boot.efi", lockstep()...)
			second.want(ms)
			if n := p.w.count(p, "rackboot_tftp_waiting_requests", ""); n != 2 {
				p.Errorf("%d wait", n)
			}
			p.send(errorPacket(errUndefined, ""))
			second.want(ms, "oack")
			third.want(ms)
			second.send(errorPacket(errUndefined, ""))
			third.want(ms, "oack")
			third.send(errorPacket(errUndefined, ""))
		}},
		{"who asks no more has no turn, and who asks for something else has that", func(c *Config) { c.Limits.Transfers = 2 }, func(p *peer) {
			stays := newPeer(p.T, p.w)
			for _, running := range []*peer{p, stays} {
				running.request("boot.efi", option{"timeout", "60"})
				running.want(ms, "oack")
			}
			gone, other := newPeer(p.T, p.w), newPeer(p.T, p.w)
			gone.request("boot.efi", lockstep()...)
			other.request("boot.efi", lockstep()...)
			synctest.Wait()
			other.request("grub/grub.cfg")
			time.Sleep(6 * time.Second)
			other.request("grub/grub.cfg")
			time.Sleep(5 * time.Second)
			p.send(errorPacket(errUndefined, ""))
			other.want(ms, "data 1")
			gone.want(ms)
			other.ack(1)
			stays.send(errorPacket(errUndefined, ""))
			p.w.settled(p)
			if n := p.w.count(p, "rackboot_tftp_waiting_requests", ""); n != 0 {
				p.Errorf("%d wait", n)
			}
		}},
		{"only so many wait, and of one client no more than it may have", func(c *Config) { c.Limits.Transfers, c.Limits.PerClient = 2, 3 }, func(p *peer) {
			for range 5 {
				newPeer(p.T, p.w).request("boot.efi", lockstep()...)
				synctest.Wait()
			}
			for _, result := range []string{"wait", "client"} {
				if n := p.w.count(p, "rackboot_tftp_requests_total", result); n != map[string]int{"wait": 1, "client": 2}[result] {
					p.Errorf("%d %s", n, result)
				}
			}
			for i := range 3 {
				far := &peer{T: p.T, w: p.w, sock: p.w.net.open(netip.AddrFrom4([4]byte{10, 99, 0, byte(60 + i)}), 0)}
				far.request("b/"+testToken+"/boot.efi", lockstep()...)
				far.want(ms)
			}
			if n := p.w.count(p, "rackboot_tftp_requests_total", "total"); n != 2 {
				p.Errorf("%d too many", n)
			}
		}},
		{"little memory makes windows small", func(c *Config) { c.Limits.Buffered = 10_000 }, func(p *peer) {
			p.request("boot.efi", option{"blksize", "1000"}, option{"windowsize", "64"})
			p.want(ms, "oack")
			p.ack(0)
			p.want(ms, "data 1", "data 2")
			if held := p.w.count(p, "rackboot_tftp_buffered_bytes", ""); held > 10_000 || held < 4_000 {
				p.Errorf("%d bytes are held", held)
			}
			p.send(errorPacket(errUndefined, ""))
			p.ends(resultAborted)
		}},
		{"no memory is silence", func(c *Config) { c.Limits.Buffered = 1000 }, func(p *peer) {
			p.request("boot.efi", lockstep()...)
			p.want(time.Minute)
			if p.w.count(p, "rackboot_tftp_requests_total", "memory") != 1 {
				p.Error("not counted")
			}
		}},
		{"a flood of one client is silent after its burst", func(c *Config) { c.Limits.Rate, c.Limits.Burst = 1, 3 }, func(p *peer) {
			for range 10 {
				p.request("../x")
			}
			p.want(ms, "error 1", "error 1", "error 1")
			if p.w.count(p, "rackboot_tftp_requests_total", "rate") != 7 {
				p.Error("not counted")
			}
			time.Sleep(time.Second)
			p.request("../x")
			p.want(ms, "error 1")
		}},
	} {
		t.Run(row.source, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				change := row.change
				if change == nil {
					change = func(*Config) {}
				}
				w := start(t, change)
				row.do(newPeer(t, w))
				w.stop()
			})
		})
	}
}

// TestRollover: block numbers begin again at 0, as for files over 94 MB at 1468.
func TestRollover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := start(t)
		w.files.files["big"] = pattern(3*65536*8 + 5) // three times around
		got, err := w.client(clientAddr(), option{"blksize", "8"}, option{"windowsize", "7"}).fetch("big")
		if err != nil || !bytes.Equal(got, w.files.files["big"]) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		w.stop()
	})
}

func TestNewRefuses(t *testing.T) {
	n := newPacketNet()
	good := func() Config {
		return Config{Segment: "s", Conn: n.open(serverAddr(), 0), Open: n.opener, Files: &memFiles{}, Evidence: &memEvidence{}}
	}
	for name, change := range map[string]func(*Config){
		"no segment":       func(c *Config) { c.Segment = "" },
		"no files":         func(c *Config) { c.Files = nil },
		"no evidence":      func(c *Config) { c.Evidence = nil },
		"conn alone":       func(c *Config) { c.Open = nil },
		"open alone":       func(c *Config) { c.Conn = nil },
		"negative limit":   func(c *Config) { c.Limits.Tries = -1 },
		"negative time":    func(c *Config) { c.Limits.Answer = -1 },
		"block too large":  func(c *Config) { c.Limits.Blksize = 65465 },
		"block too small":  func(c *Config) { c.Limits.Blksize = 7 },
		"no interface":     func(c *Config) { c.Conn, c.Open, c.Listen = nil, nil, netip.MustParseAddrPort("10.99.0.1:69") },
		"IPv6":             func(c *Config) { c.Conn, c.Open, c.Listen = nil, nil, netip.MustParseAddrPort("[::1]:69") },
		"unknown network":  func(c *Config) { c.Interface = "no-such-if0" },
		"unknown, to bind": func(c *Config) { c.Conn, c.Open, c.Interface = nil, nil, "no-such-if0" },
	} {
		c := good()
		change(&c)
		want := protocol.CodeInvalid
		if c.Interface != "" {
			want = protocol.CodeNotFound
		}
		if _, err := New(c); protocol.CodeOf(err) != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if _, err := New(good()); err != nil {
		t.Error(err)
	}
}

// TestBrokenSocket: Run says so, and waits for nobody.
func TestBrokenSocket(t *testing.T) {
	n := newPacketNet()
	conn := n.open(serverAddr(), Port)
	s, err := New(Config{Segment: "s", Conn: conn, Open: n.opener, Files: &memFiles{}, Evidence: &memEvidence{}})
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if err := s.Run(t.Context()); protocol.CodeOf(err) != protocol.CodeUnavailable || errors.Is(err, errSilence) {
		t.Error(err)
	}
}
