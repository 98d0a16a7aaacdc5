package dhcp

import (
	"context"
	"io"
	"net/netip"
	"slices"
	"sync"
	"time"

	"rackboot/netboot/leasing"
)

const (
	// probeWait is how long an address is listened for. Hosts answer ARP within a
	// millisecond; RFC 5227 waits for seconds, which the client does not have.
	probeWait = 150 * time.Millisecond
	// probeAgain is when the probe is repeated within it: a frame may be lost.
	probeAgain = 60 * time.Millisecond
	// frameSize is an Ethernet frame without jumbo payload.
	frameSize = 1518
)

// tap is a socket for whole Ethernet frames on one interface.
type tap = io.ReadWriteCloser

// link is the raw side of the segment's interface. It is safe for concurrent use.
type link struct {
	mac  mac48
	out  tap                 // sends IPv4 frames, receives nothing
	arp  tap                 // sends and receives ARP frames
	open func() (tap, error) // one that receives datagrams to the port of clients
	// heard is told of each ARP packet; nil is nobody.
	heard func(arpPacket)

	mu      sync.Mutex
	waiting map[netip.Addr][]*listener
}

// listener waits for somebody else than the client to show that he uses an address.
type listener struct {
	client mac48
	heard  chan mac48
}

// watch hands ARP packets to whom they concern, until ctx ends and the socket is
// closed. An interface that goes down is an error of one read.
func (l *link) watch(ctx context.Context) error {
	buf := make([]byte, frameSize)
	for failed := 0; ; {
		n, err := l.arp.Read(buf)
		if err == nil {
			failed = 0
			if a, err := parseARP(buf[:n]); err == nil {
				l.tell(a)
				if l.heard != nil {
					l.heard(a)
				}
			}
			continue
		}
		if ctx.Err() != nil {
			return nil
		}
		if failed++; failed >= leasing.ReadErrors {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(leasing.ReadRetry):
		}
	}
}

func (l *link) tell(a arpPacket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, addr := range [2]netip.Addr{a.senderIP, a.targetIP} {
		for _, w := range l.waiting[addr] {
			if a.senderMAC != w.client && a.claims(addr, l.mac) {
				select {
				case w.heard <- a.senderMAC:
				default: // he was heard already
				}
			}
		}
	}
}

// inUse probes for an address (RFC 5227 section 2.1.1) and returns who has it. That
// the client itself has it is no conflict. It takes probeWait where nobody answers,
// or until ctx ends, which is an error.
func (l *link) inUse(ctx context.Context, addr netip.Addr, client mac48) (by mac48, used bool, err error) {
	w := &listener{client: client, heard: make(chan mac48, 1)}
	l.mu.Lock()
	l.waiting[addr] = append(l.waiting[addr], w)
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		rest := slices.DeleteFunc(l.waiting[addr], func(o *listener) bool { return o == w })
		if l.waiting[addr] = rest; len(rest) == 0 {
			delete(l.waiting, addr)
		}
	}()
	frame := probeOf(l.mac, addr).frame()
	again, end := time.NewTimer(probeAgain), time.NewTimer(probeWait)
	defer again.Stop()
	defer end.Stop()
	if _, err := l.arp.Write(frame); err != nil {
		return mac48{}, false, err
	}
	for {
		select {
		case by := <-w.heard:
			return by, true, nil
		case <-again.C:
			if _, err := l.arp.Write(frame); err != nil {
				return mac48{}, false, err
			}
		case <-end.C:
			return mac48{}, false, nil
		case <-ctx.Done():
			return mac48{}, false, ctx.Err()
		}
	}
}

// send sends a reply to a client that cannot be asked for its address by ARP.
func (l *link) send(out reply) error {
	d := datagram{fromMAC: l.mac, toMAC: mac48(out.mac), from: out.from, to: out.to, payload: out.raw}
	_, err := l.out.Write(d.frame())
	return err
}

func (l *link) close() {
	_ = l.arp.Close()
	_ = l.out.Close()
}
