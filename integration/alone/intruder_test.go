//go:build host

package alone

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"rackboot/netboot"
	"rackboot/netboot/firmware"
	"rackboot/protocol"
)

// intruderTime bounds an attack, whatever the intruder is told.
const intruderTime = 2 * time.Minute

// loot is what an intruder has.
type loot struct {
	Heard    bool // user data, in what it heard
	Given    bool // user data, that it asked for
	Boots    int  // boot files that it was given
	Tokens   int  // of boots, that it heard
	Accepted int  // reports that the agent took
	Tries    int
}

// intruder is somebody on the boot segment who hears everything.
type intruder struct {
	mu     sync.Mutex
	loot   loot
	tokens map[string]struct{}
	// from is where its requests come from; zero leaves it to the kernel.
	from netip.Addr
}

// runIntruder is the child that attacks as it is told.
func runIntruder() error {
	name, err := config[string]()
	if err != nil {
		return err
	}
	attack, ok := attacks()[name]
	if !ok {
		return fmt.Errorf("there is no attack %q", name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), intruderTime)
	defer cancel()
	x := &intruder{tokens: map[string]struct{}{}}
	ears, err := openFrames()
	if err != nil {
		return err
	}
	heard, done := make(chan error, 1), make(chan error, 1)
	go func() { heard <- x.hear(ctx, ears) }()
	go func() { done <- attack(ctx, x) }()
	if err := speak("begun"); err != nil {
		return err
	}
	err = listen(func(string) error {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.loot.Tokens = len(x.tokens)
		return speak(x.loot)
	})
	cancel()
	if e := <-done; e != nil { // an attack that could not be made shows nothing
		err = e
	}
	if e := <-heard; e != nil {
		err = e
	}
	return err
}

// openFrames opens a socket that hears every frame of the segment, whoever it is for.
func openFrames() (int, error) {
	ifi, err := net.InterfaceByName(clientDevice)
	if err != nil {
		return 0, err
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, int(onWire(unix.ETH_P_ALL)))
	if err != nil {
		return 0, err
	}
	if err := unix.SetsockoptPacketMreq(fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &unix.PacketMreq{Ifindex: int32(ifi.Index), Type: unix.PACKET_MR_PROMISC}); err != nil {
		return 0, err
	}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 50_000}); err != nil {
		return 0, err
	}
	return fd, unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: onWire(unix.ETH_P_ALL), Ifindex: ifi.Index})
}

// onWire is a number in the byte order of a network.
func onWire(n uint16) uint16 {
	return binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, n))
}

var inURL = regexp.MustCompile(regexp.QuoteMeta(netboot.PathPrefix) + `([0-9A-Za-z_-]{16,})/`)

// hear reads what passes: user data, and tokens of boots.
func (x *intruder) hear(ctx context.Context, fd int) error {
	defer unix.Close(fd)
	frame := make([]byte, 1<<16)
	for ctx.Err() == nil {
		n, from, err := unix.Recvfrom(fd, frame, 0)
		if err == unix.EAGAIN || err == unix.EINTR || err == unix.ENETDOWN {
			continue // the attack may change its interface
		}
		if err != nil {
			return fmt.Errorf("hear frames: %w", err)
		}
		if l, ok := from.(*unix.SockaddrLinklayer); ok && l.Pkttype == unix.PACKET_OUTGOING {
			continue // its own
		}
		x.mu.Lock()
		x.loot.Heard = x.loot.Heard || bytes.Contains(frame[:n], []byte(canary))
		for _, found := range inURL.FindAllSubmatch(frame[:n], 8) {
			x.tokens[string(found[1])] = struct{}{}
		}
		x.mu.Unlock()
	}
	return nil
}

// heard are the tokens that it heard, as base URLs.
func (x *intruder) heard() (bases []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for token := range maps.Keys(x.tokens) {
		bases = append(bases, "http://"+bootAddress+netboot.PathPrefix+token+"/")
	}
	return bases
}

// again does something until ctx ends. That it fails is the intruder's everyday.
func (x *intruder) again(ctx context.Context, do func(context.Context) error) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		_ = do(ctx)
		x.mu.Lock()
		x.loot.Tries++
		x.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// machine is firmware with a MAC address and a UUID; zero sends no UUID.
func (x *intruder) machine(mac string, uuid [16]byte) *firmware.Client {
	hw, err := net.ParseMAC(mac)
	if err != nil {
		panic(err) // a constant
	}
	return &firmware.Client{MAC: hw, UUID: uuid, Interface: clientDevice, Speed: 2 * serverSpeed, HTTPTimeout: time.Second}
}

// steals does what a server does from its DISCOVER to its report, as fast as it can.
func (x *intruder) steals(ctx context.Context, c *firmware.Client, load func(context.Context) (firmware.Result, error)) error {
	r, err := load(ctx)
	if err != nil {
		return err
	}
	x.mu.Lock()
	x.loot.Boots++
	x.mu.Unlock()
	base := r.URL[:strings.LastIndexByte(r.URL, '/')+1]
	if lease, err := c.Plain(ctx); err == nil && lease.Bootfile != "" {
		base = lease.Bootfile
	}
	x.read(ctx, base)
	x.report(ctx, base)
	return nil
}

// read asks for user data.
func (x *intruder) read(ctx context.Context, base string) {
	if body, status := x.do(ctx, http.MethodGet, base+protocol.FileIgnition); status == http.StatusOK && strings.Contains(body, canary) {
		x.mu.Lock()
		x.loot.Given = true
		x.mu.Unlock()
	}
}

// report says everything that a server can say.
func (x *intruder) report(ctx context.Context, base string) {
	for _, state := range []string{"installed", "booted", "failed"} {
		if _, status := x.do(ctx, http.MethodPost, base+netboot.ReportPath+"/"+state); status == http.StatusNoContent {
			x.mu.Lock()
			x.loot.Accepted++
			x.mu.Unlock()
		}
	}
}

func (x *intruder) do(ctx context.Context, method, url string) (body string, status int) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, http.NoBody)
	if err != nil {
		return "", 0
	}
	req.Close = true
	d := &net.Dialer{}
	if x.from.IsValid() {
		d.LocalAddr = &net.TCPAddr{IP: x.from.AsSlice()}
	}
	resp, err := (&http.Transport{DialContext: d.DialContext, DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return "", 0
	}
	defer resp.Body.Close()
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return string(raw), resp.StatusCode
}

// run changes its own network.
func (x *intruder) run(ctx context.Context, lines ...string) error {
	for _, line := range lines {
		words := strings.Fields(line)
		if out, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", line, err, out)
		}
	}
	return nil
}
