//go:build host

package alone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Bounds of a flood, whatever it is told: per kind, and the time.
const (
	floodMost = 200_000
	floodTime = 30 * time.Second
	// A burst and the pause after it keep one flood to some 10,000 packets a second.
	floodBurst = 64
	floodPause = 6 * time.Millisecond
	// floodSources are the addresses that it comes from.
	floodSources = 4
	// floodOpen are connections that are opened and left alone, more than one client
	// may have.
	floodOpen = 200
)

func floodSource(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 7, 200, byte(1 + i)}) }

// sent is what a flood sent.
type sent struct{ DHCP, TFTP, HTTP int64 }

// flood sends until ctx ends.
type flood struct{ dhcp, tftp, http atomic.Int64 }

// runFlood is the child that sends.
func runFlood() error {
	ctx, cancel := context.WithTimeout(context.Background(), floodTime)
	defer cancel()
	f := &flood{}
	var all sync.WaitGroup
	errs := make(chan error, 2+2*floodSources)
	begin := func(do func(context.Context) error) { all.Go(func() { errs <- do(ctx) }) }
	begin(f.sendDHCP)
	begin(f.holdHTTP)
	for i := range floodSources {
		begin(func(ctx context.Context) error { return f.sendTFTP(ctx, floodSource(i)) })
		begin(func(ctx context.Context) error { return f.sendHTTP(ctx, floodSource(i)) })
	}
	if err := speak("begun"); err != nil {
		return err
	}
	return listen(func(string) error {
		cancel()
		all.Wait()
		close(errs)
		var err error
		for e := range errs {
			err = errors.Join(err, e)
		}
		return errors.Join(err, speak(sent{f.dhcp.Load(), f.tftp.Load(), f.http.Load()}))
	})
}

// paced sends in bursts until it has sent floodMost, or ctx ends. What the host has no
// room for is lost, like anything in a flood.
func paced(ctx context.Context, count *atomic.Int64, send func() error) error {
	tick := time.NewTicker(floodPause)
	defer tick.Stop()
	for count.Load() < floodMost {
		for range floodBurst {
			if err := send(); err != nil && !errors.Is(err, syscall.ENOBUFS) && !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, os.ErrDeadlineExceeded) {
				return err
			}
			count.Add(1)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
	return nil
}

// sendDHCP sends to ports 67 and 4011: garbage, messages that are cut short or changed,
// and those that random machines send, which ask for leases and for boots.
func (f *flood) sendDHCP(ctx context.Context) error {
	conn, err := onDevice(ctx, ":0")
	if err != nil {
		return err
	}
	defer conn.Close()
	to := []*net.UDPAddr{{IP: net.IPv4bcast, Port: 67}, {IP: net.ParseIP(bootAddress), Port: 67}, {IP: net.ParseIP(bootAddress), Port: 4011}}
	return paced(ctx, &f.dhcp, func() error {
		p := garbage()
		switch rand.N(4) {
		case 0:
		case 1:
			p = stranger()
			p = p[:rand.N(len(p))]
		case 2:
			p = stranger()
			for range 1 + rand.N(8) {
				p[rand.N(len(p))] = byte(rand.N(256))
			}
		default:
			p = stranger()
		}
		_, err := conn.WriteTo(p, to[rand.N(len(to))])
		return err
	})
}

func garbage() []byte {
	p := make([]byte, rand.N(1472))
	for i := range p {
		p[i] = byte(rand.N(256))
	}
	return p
}

// stranger is a DISCOVER or REQUEST (RFC 2131 section 2) of a random machine, as an
// operating system, UEFI HTTP boot or PXE sends it.
func stranger() []byte {
	p := make([]byte, 240, 400)
	p[0], p[1], p[2] = 1, 1, 6 // BOOTREQUEST, Ethernet
	for i := 4; i < 8; i++ {
		p[i] = byte(rand.N(256)) // xid
	}
	p[10] = 0x80 // broadcast
	p[28] = 2    // chaddr, locally administered
	for i := 29; i < 34; i++ {
		p[i] = byte(rand.N(256))
	}
	copy(p[236:], []byte{99, 130, 83, 99})
	if rand.N(2) == 0 {
		p = append(p, 53, 1, 1)
	} else {
		p = append(p, 53, 1, 3, 50, 4, 10, 7, 0, byte(100+rand.N(16)))
	}
	if class := []string{"", "HTTPClient:Arch:00016:UNDI:003000", "PXEClient:Arch:00007:UNDI:003000"}[rand.N(3)]; class != "" {
		p = append(p, 60, byte(len(class)))
		p = append(p, class...)
		p = append(p, 93, 2, 0, []byte{16, 7}[rand.N(2)])
	}
	return append(p, 255)
}

// sendTFTP sends garbage and requests for files that are not there from one address.
func (f *flood) sendTFTP(ctx context.Context, from netip.Addr) error {
	conn, err := (&net.ListenConfig{}).ListenPacket(ctx, "udp4", netip.AddrPortFrom(from, 0).String())
	if err != nil {
		return err
	}
	defer conn.Close()
	to := &net.UDPAddr{IP: net.ParseIP(bootAddress), Port: 69}
	return paced(ctx, &f.tftp, func() error {
		p := garbage()
		if rand.N(2) == 0 {
			p = fmt.Appendf([]byte{0, 1}, "b/%016x/boot.efi\x00octet\x00blksize\x001468\x00windowsize\x0064\x00", rand.Uint64())
		}
		_, err := conn.WriteTo(p, to)
		return err
	})
}

// sendHTTP sends garbage and requests for files that are not there, on one connection
// after another.
func (f *flood) sendHTTP(ctx context.Context, from netip.Addr) error {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: from.AsSlice()}, Timeout: time.Second}
	for ctx.Err() == nil && f.http.Load() < floodMost {
		f.http.Add(1)
		c, err := d.DialContext(ctx, "tcp4", bootAddress+":80")
		if err != nil {
			continue // refused, or the time is over: a flood takes no notice
		}
		p := garbage()
		if rand.N(2) == 0 {
			p = fmt.Appendf(nil, "GET /b/%016x/boot.efi HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", rand.Uint64())
		}
		_ = c.SetDeadline(time.Now().Add(time.Second))
		_, _ = c.Write(append(p, "\r\n\r\n"...))
		_, _ = io.Copy(io.Discard, c)
		_ = c.Close()
	}
	return nil
}

// holdHTTP opens connections from one address, begins a request on each and never ends
// it.
func (f *flood) holdHTTP(ctx context.Context) error {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: floodSource(0).AsSlice()}, Timeout: time.Second}
	for range floodOpen {
		c, err := d.DialContext(ctx, "tcp4", bootAddress+":80")
		if err != nil {
			continue
		}
		defer c.Close()
		f.http.Add(1)
		_, _ = c.Write([]byte("GET /b/"))
	}
	<-ctx.Done()
	return nil
}
