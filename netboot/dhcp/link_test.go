package dhcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"golang.org/x/net/bpf"

	"rackboot/netboot"
	"rackboot/netboot/leasing"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// wire is an Ethernet segment in memory: each frame that is sent is given to answer,
// whose frames come back.
type wire struct {
	mu     sync.Mutex
	sent   [][]byte
	answer func(frame []byte) [][]byte
	back   chan []byte
	closed chan struct{}
	once   sync.Once
}

func newWire(answer func([]byte) [][]byte) *wire {
	return &wire{answer: answer, back: make(chan []byte, 64), closed: make(chan struct{})}
}

func (w *wire) Write(b []byte) (int, error) {
	w.mu.Lock()
	w.sent = append(w.sent, bytes.Clone(b))
	w.mu.Unlock()
	if w.answer != nil {
		for _, f := range w.answer(b) {
			w.back <- f
		}
	}
	return len(b), nil
}

func (w *wire) Read(b []byte) (int, error) {
	select {
	case f := <-w.back:
		return copy(b, f), nil
	case <-w.closed:
		return 0, io.EOF
	}
}

func (w *wire) Close() error {
	w.once.Do(func() { close(w.closed) })
	return nil
}

func (w *wire) frames() [][]byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.sent)
}

var _ tap = (*wire)(nil)

// squatter answers ARP for some addresses.
func squatter(mac mac48, addrs ...string) func([]byte) [][]byte {
	return func(frame []byte) [][]byte {
		q, err := parseARP(frame)
		if err != nil || !slices.Contains(addrs, q.targetIP.String()) {
			return nil
		}
		return [][]byte{arpPacket{op: arpReply, senderMAC: mac, senderIP: q.targetIP, targetMAC: q.senderMAC, targetIP: q.senderIP}.frame()}
	}
}

const ourMAC = "\x52\x54\x00\x00\x00\x01"

// linkTo is a link over a wire, with its watch running until the test ends.
func linkTo(t *testing.T, arp, out *wire, open func() (tap, error)) *link {
	l := &link{mac: mac48([]byte(ourMAC)), arp: arp, out: out, open: open, waiting: make(map[netip.Addr][]*listener)}
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { done <- l.watch(ctx) }()
	t.Cleanup(func() {
		cancel()
		l.close()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if len(l.waiting) != 0 {
			t.Errorf("%d addresses are still listened for", len(l.waiting))
		}
	})
	return l
}

func stranger48() mac48 { return mac48{0x02, 0, 0, 0, 0, 0x99} }

// TestProbe: who has the address, and in what time (section 3, "Conflict probe").
func TestProbe(t *testing.T) {
	const a = "10.99.0.60"
	client := mac48{0x52, 0x54, 0, 0x12, 0x34, 0x56}
	other := func(p arpPacket) func([]byte) [][]byte {
		return func([]byte) [][]byte { return [][]byte{p.frame()} }
	}
	for _, row := range []struct {
		name   string
		answer func([]byte) [][]byte
		used   bool
		took   time.Duration
	}{
		{"nobody", nil, false, probeWait},
		{"a stranger answers", squatter(stranger48(), a), true, 0},
		{"the client itself answers", squatter(client, a), false, probeWait},
		{"another address answers", squatter(stranger48(), "10.99.0.61"), false, probeWait},
		{"a stranger probes for it too (RFC 5227 section 2.1.1)", other(probeOf(stranger48(), addr(a))), true, 0},
		{"the client probes for it", other(probeOf(client, addr(a))), false, probeWait},
		{"our own frame comes back", other(probeOf(mac48([]byte(ourMAC)), addr(a))), false, probeWait},
		{"somebody asks for it", other(arpPacket{op: arpRequest, senderMAC: stranger48(), senderIP: addr("10.99.0.5"), targetIP: addr(a)}), false, probeWait},
		{"somebody announces it (RFC 5227 section 2.3)", other(arpPacket{op: arpRequest, senderMAC: stranger48(), senderIP: addr(a), targetIP: addr(a)}), true, 0},
		{"rubbish", func([]byte) [][]byte { return [][]byte{{1, 2, 3}} }, false, probeWait},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				arp := newWire(row.answer)
				l := linkTo(t, arp, newWire(nil), nil)
				start := time.Now()
				_, used, err := l.inUse(t.Context(), addr(a), client)
				if err != nil || used != row.used || time.Since(start) != row.took {
					t.Errorf("used %v after %s, %v", used, time.Since(start), err)
				}
				want := 1
				if !row.used {
					want = 2
				}
				if n := len(arp.frames()); n != want {
					t.Errorf("%d probes, want %d", n, want)
				}
			})
		})
	}
}

// brokenTap fails to read a number of times before it reads frames.
type brokenTap struct {
	*wire
	fails int
}

func (b *brokenTap) Read(p []byte) (int, error) {
	if b.fails > 0 {
		b.fails--
		return 0, syscall.ENETDOWN
	}
	return b.wire.Read(p)
}

// TestWatchSurvives: a link that flaps costs nothing but the time that it is down;
// one that is gone for good is an error.
func TestWatchSurvives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		arp := &brokenTap{newWire(squatter(stranger48(), "10.99.0.60")), leasing.ReadErrors - 1}
		l := &link{mac: mac48([]byte(ourMAC)), arp: arp, out: newWire(nil), waiting: make(map[netip.Addr][]*listener)}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- l.watch(ctx) }()
		time.Sleep(leasing.ReadErrors * leasing.ReadRetry)
		if _, used, err := l.inUse(ctx, addr("10.99.0.60"), mac48{}); err != nil || !used {
			t.Errorf("used %v, %v", used, err)
		}
		cancel()
		l.close()
		if err := <-done; err != nil {
			t.Error(err)
		}
		arp.fails = leasing.ReadErrors
		if err := l.watch(t.Context()); !errors.Is(err, syscall.ENETDOWN) {
			t.Errorf("got %v", err)
		}
	})
}

// TestVacate: a DISCOVER's address is probed; what is in use rests and another is
// offered, in less than 300 ms (quirk 24).
func TestVacate(t *testing.T) {
	all := func(frame []byte) [][]byte {
		q, _ := parseARP(frame)
		return squatter(stranger48(), q.targetIP.String())(frame)
	}
	for _, row := range []struct {
		name    string
		prepare func(t *testing.T, w *world) // before there is a link
		answer  func([]byte) [][]byte
		opts    []opt
		probes  float64 // that were asked
		offered bool
		took    time.Duration
		rest    int
	}{
		{"free", nil, nil, nil, 1, true, probeWait, 0},
		{"not for a lease that runs", func(t *testing.T, w *world) { w.bind(t, mac1) }, all, nil, 0, true, 0, 0},
		{"not for an offer that is repeated", func(t *testing.T, w *world) { w.send(t, client(dhcpv4.MessageTypeDiscover, mac1)) }, all, nil, 0, true, 0, 0},
		{"for a lease that ended", func(t *testing.T, w *world) { w.bind(t, mac1); w.clock = w.clock.Add(2 * time.Hour) }, nil, nil, 1, true, probeWait, 0},
		{"not for a reservation", func(t *testing.T, w *world) {
			w.resolver.svc.Reservations = reserve(t, netboot.Reservation{Address: addr("10.99.0.10"), MAC: mac1})
		}, all, nil, 0, true, 0, 0},
		{"not behind a relay", nil, all, []opt{giaddr("10.99.0.3")}, 0, true, 0, 0},
		{"all in use: no offer, and no more than a few at once", nil, all, nil, probeTries, false, 0, probeTries},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, lease1())
				if row.prepare != nil {
					row.prepare(t, w)
				}
				w.link = linkTo(t, newWire(row.answer), newWire(nil), nil)
				start := time.Now()
				offer, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, mac1, row.opts...))
				if (offer != nil) != row.offered {
					t.Fatalf("offered %v", offer != nil)
				}
				if d := time.Since(start); d != row.took || d >= 300*time.Millisecond {
					t.Errorf("took %s", d)
				}
				free, used := testutil.ToFloat64(w.metrics.probes.WithLabelValues("free")), testutil.ToFloat64(w.metrics.probes.WithLabelValues("used"))
				if free+used != row.probes {
					t.Errorf("%v probes", free+used)
				}
				conflicts := slices.DeleteFunc(w.notices.kinds(), func(k netboot.NoticeKind) bool { return k != netboot.NoticeConflict })
				if n := w.pool.Count(leasing.Declined, w.clock); n != row.rest || len(conflicts) != row.rest {
					t.Errorf("%d addresses rest, told %v", n, w.notices.kinds())
				}
			})
		})
	}
}

// TestVacateGoesOn: one squatter costs one address, and the client gets another in
// the same answer. A relay's copy that arrives meanwhile gets no other offer.
func TestVacateGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, lease1())
		first, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, mac1))
		squatted := first.YourIPAddr.String()
		w.restart(t)
		arp := newWire(squatter(stranger48(), squatted))
		w.link = linkTo(t, arp, newWire(nil), nil)
		done := make(chan *dhcpv4.DHCPv4)
		go func() {
			offer, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, mac1))
			done <- offer
		}()
		synctest.Wait()
		if copied, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, mac1)); copied != nil {
			t.Errorf("the copy gets %s", copied.YourIPAddr)
		}
		offer := <-done
		if offer == nil || offer.YourIPAddr.String() == squatted {
			t.Fatalf("got %v", offer)
		}
		if n := w.notices.list[0]; n.Kind != netboot.NoticeConflict || n.Address.String() != squatted || n.MAC != stranger48().String() || n.Segment != "rack1" {
			t.Errorf("told %+v", n)
		}
		if again, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, mac1)); !again.YourIPAddr.Equal(offer.YourIPAddr) {
			t.Errorf("then it gets %s, before %s (quirk 24)", again.YourIPAddr, offer.YourIPAddr)
		}
	})
}

// TestProbeSlots: probes never take all workers; beyond the slots there is none.
func TestProbeSlots(t *testing.T) {
	w := newWorld(t, lease1())
	w.link = linkTo(t, newWire(nil), newWire(nil), nil)
	for range probeSlots {
		w.probes <- struct{}{}
	}
	if offer, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, mac1)); offer == nil {
		t.Error("no offer")
	}
	if n := testutil.ToFloat64(w.metrics.probes.WithLabelValues("skipped")); n != 1 || probeSlots >= workerCount {
		t.Errorf("skipped %v", n)
	}
}

// TestRecover is INIT-REBOOT after leases were lost (quirk 17): the address is not
// refused unless it is another's.
func TestRecover(t *testing.T) {
	for _, row := range []struct {
		name          string
		link          bool
		answer        func([]byte) [][]byte
		authoritative bool
		opts          []opt
		want          dhcpv4.MessageType
	}{
		{"nobody answers", true, nil, false, nil, dhcpv4.MessageTypeAck},
		{"the client answers", true, squatter(mac48{0x52, 0x54, 0, 0x12, 0x34, 0x56}, "10.99.0.60"), false, nil, dhcpv4.MessageTypeAck},
		{"another machine answers", true, squatter(stranger48(), "10.99.0.60"), false, nil, dhcpv4.MessageTypeNak},
		{"no raw socket", false, nil, false, nil, dhcpv4.MessageTypeNone},
		{"no raw socket, authoritative", false, nil, true, nil, dhcpv4.MessageTypeNone},
		{"behind a relay", true, nil, false, []opt{giaddr("10.99.0.3")}, dhcpv4.MessageTypeNone},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, lease1())
				w.resolver.svc.Authoritative = row.authoritative
				if row.link {
					w.link = linkTo(t, newWire(row.answer), newWire(nil), nil)
				}
				reply, _ := w.send(t, client(asking, mac1, append(row.opts, withIP(50, "10.99.0.60"))...))
				got := dhcpv4.MessageTypeNone
				if reply != nil {
					got = reply.MessageType()
				}
				if got != row.want {
					t.Errorf("got %s, want %s", got, row.want)
				}
			})
		})
	}
}

// TestFrameReply: the frame goes to chaddr and comes from our own address, whatever
// siaddr is (quirk 14).
func TestFrameReply(t *testing.T) {
	w := newWorld(t, protocol.BootAnswer{Action: protocol.AnswerBoot, Server: "s1", Token: "t", File: "f.efi"})
	out := newWire(nil)
	w.link = &link{mac: mac48([]byte(ourMAC)), out: out, arp: newWire(nil)}
	ans := w.respond(t.Context(), client(asking, mac1, withText(60, "PXEClient"), withIP(54, ours), withIP(50, "10.99.0.60")).ToBytes(), testPeer, false)
	if err := w.Server.send(nil, ans); err != nil {
		t.Fatal(err)
	}
	d, err := parseDatagram(out.frames()[0])
	if err != nil {
		t.Fatal(err)
	}
	if d.toMAC.String() != mac1 || d.fromMAC != w.link.mac || d.from.String() != "10.99.0.1:67" || d.to.String() != "10.99.0.60:68" || !bytes.Equal(d.payload, ans.raw) {
		t.Errorf("frame %+v", d)
	}
}

// writes is a PacketConn that notes where packets are sent.
type writes struct {
	deadConn
	to []string
}

func (w *writes) WriteTo(b []byte, to net.Addr) (int, error) {
	w.to = append(w.to, to.String())
	return len(b), nil
}

// deadTap sends nothing.
type deadTap struct{ *wire }

func (deadTap) Write([]byte) (int, error) { return 0, syscall.ENETDOWN }

// TestNoFrame: without raw sockets, or where they fail, the reply is broadcast.
func TestNoFrame(t *testing.T) {
	for name, l := range map[string]*link{
		"no raw socket":         nil,
		"the interface is down": {out: deadTap{newWire(nil)}},
	} {
		w := newWorld(t, lease1())
		w.link = l
		var conn writes
		out := reply{raw: []byte("x"), to: netip.MustParseAddrPort("10.99.0.60:68"), mac: []byte(ourMAC), from: addrPort67()}
		if err := w.Server.send(&conn, out); err != nil || !slices.Equal(conn.to, []string{"255.255.255.255:68"}) {
			t.Errorf("%s: sent to %v, %v", name, conn.to, err)
		}
	}
}

// TestHunt: other servers are found by a DISCOVER that no machine sent.
func TestHunt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := newWire(nil)
		var asked []*dhcpv4.DHCPv4
		out := newWire(func(frame []byte) [][]byte {
			d, err := parseDatagram(frame)
			if err != nil || d.from.String() != "0.0.0.0:68" || d.to.String() != "255.255.255.255:67" || d.toMAC != broadcastMAC() {
				t.Errorf("sent %+v, %v", d, err)
			}
			p, err := dhcpv4.FromBytes(d.payload)
			if err != nil {
				t.Fatal(err)
			}
			asked = append(asked, p)
			offer := func(server string, change func(*dhcpv4.DHCPv4)) {
				o := &dhcpv4.DHCPv4{
					OpCode: dhcpv4.OpcodeBootReply, HWType: 1, TransactionID: p.TransactionID, ClientHWAddr: p.ClientHWAddr,
					Options: dhcpv4.Options{53: {2}, 54: addr(server).AsSlice()},
				}
				change(o)
				from := netip.AddrPortFrom(addr(server), 67)
				in.back <- datagram{toMAC: broadcastMAC(), from: from, to: everybody(), payload: o.ToBytes()}.frame()
			}
			offer("10.99.0.8", func(*dhcpv4.DHCPv4) {})
			offer("10.99.0.8", func(*dhcpv4.DHCPv4) {})
			offer("10.99.0.9", func(o *dhcpv4.DHCPv4) { delete(o.Options, 54) }) // by its source
			offer("10.99.0.10", func(o *dhcpv4.DHCPv4) { o.TransactionID[0]++ }) // somebody else's
			offer("10.99.0.11", func(o *dhcpv4.DHCPv4) { o.ClientHWAddr = []byte{2, 0, 0, 0, 0, 1} })
			offer(ours, func(*dhcpv4.DHCPv4) {})
			in.back <- []byte("rubbish")
			return nil
		})
		w := newWorld(t, lease1())
		opened := 0
		w.link = &link{mac: mac48([]byte(ourMAC)), out: out, arp: newWire(nil), open: func() (tap, error) {
			opened++
			in = newWire(nil)
			return in, nil
		}}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { w.hunt(ctx); close(done) }()
		time.Sleep(huntFirst + huntListen + time.Second)
		synctest.Wait()
		var found []string
		for _, n := range w.notices.list {
			if n.Kind != netboot.NoticeForeignServer {
				t.Errorf("told %+v", n)
			}
			found = append(found, n.Address.String())
		}
		if !slices.Equal(found, []string{"10.99.0.8", "10.99.0.9"}) {
			t.Errorf("found %v", found)
		}
		if n := testutil.ToFloat64(w.metrics.foreign.WithLabelValues("offer")); n != 3 {
			t.Errorf("counted %v", n)
		}
		time.Sleep(2 * huntEvery)
		w.resolver.mu.Lock()
		w.resolver.svc.Mode = resource.ServiceProxy // the other server is expected
		w.resolver.mu.Unlock()
		time.Sleep(2 * huntEvery)
		cancel()
		<-done
		if len(asked) != 3 || opened != 3 {
			t.Fatalf("asked %d times, %d sockets", len(asked), opened)
		}
		for i, p := range asked {
			if hw := p.ClientHWAddr; hw[0]&3 != 2 || p.Flags != flagBroadcast || i > 0 && bytes.Equal(hw, asked[i-1].ClientHWAddr) {
				t.Errorf("asked from %s, flags %#x", hw, p.Flags)
			}
		}
		select {
		case <-in.closed:
		default:
			t.Error("the last socket is open")
		}
	})
}

// TestFilters runs the filters on frames.
func TestFilters(t *testing.T) {
	to := func(port uint16) []byte {
		return datagram{from: addrPort67(), to: netip.AddrPortFrom(addr("10.99.0.60"), port), payload: []byte("x")}.frame()
	}
	fragment := to(portClient)
	fragment[etherHeader+7] = 1
	tcp := to(portClient)
	tcp[etherHeader+9] = 6
	for _, row := range []struct {
		name   string
		filter []bpf.Instruction
		frame  []byte
		want   bool
	}{
		{"to a client", toClients(), to(portClient), true},
		{"to a server", toClients(), to(portServer), false},
		{"a fragment", toClients(), fragment, false},
		{"TCP", toClients(), tcp, false},
		{"ARP", toClients(), probeOf(stranger48(), addr("10.99.0.60")).frame(), false},
		{"anything", nothing(), to(portClient), false},
	} {
		vm, err := bpf.NewVM(row.filter)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := vm.Run(row.frame); err != nil || (n > 0) != row.want {
			t.Errorf("%s: %d, %v", row.name, n, err)
		}
	}
}

func addrPort67() netip.AddrPort { return netip.AddrPortFrom(addr(ours), portServer) }
