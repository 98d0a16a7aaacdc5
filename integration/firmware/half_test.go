package firmware

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rackboot/bmc/sim"
	"rackboot/integration/netns"
	"rackboot/netboot"
	"rackboot/netboot/dhcp"
	"rackboot/netboot/httpboot"
	"rackboot/protocol"
)

func child(string) error { return errors.New("no child") }

type canned struct {
	mu     sync.Mutex
	file   string
	start  time.Time
	events []string
	installed chan struct{}
}

func (c *canned) note(f string, a ...any) {
	c.mu.Lock(); defer c.mu.Unlock()
	fmt.Fprintf(os.Stderr, "%6.2f "+f+"\n", append([]any{time.Since(c.start).Seconds()}, a...)...)
}
func (c *canned) Segment(string) (protocol.SegmentIntent, bool) {
	return protocol.SegmentIntent{Name: "boot", Prefix: netip.MustParsePrefix("10.7.0.0/24"), PoolFrom: netip.MustParseAddr("10.7.0.100"), PoolTo: netip.MustParseAddr("10.7.0.200"),
		Address: netip.MustParseAddr("10.7.0.1"), BaseURL: "http://10.7.0.1:8080", LeaseTime: time.Hour}, true
}
func (c *canned) Resolve(b protocol.BootClient) protocol.BootAnswer {
	c.note("resolve %s %s", b.Class, b.MAC)
	if b.Class == protocol.ClassHTTPClient {
		return protocol.BootAnswer{Action: protocol.AnswerBoot, Server: "s", Token: "tok", File: "boot.efi"}
	}
	return protocol.BootAnswer{Action: protocol.AnswerLease, Server: "s", Token: "tok"}
}
func (c *canned) Load(string) ([]netboot.Lease, error) { return nil, nil }
func (c *canned) Put(context.Context, netboot.Lease) error { return nil }
func (c *canned) Delete(context.Context, netboot.Lease) error { return nil }
func (c *canned) Record(e netboot.Event) { c.note("event %s", e.Kind) }
func (c *canned) Open(token, name string) (*netboot.File, error) {
	c.note("open %s", name)
	f, err := os.Open(c.file)
	if err != nil { return nil, err }
	i, _ := f.Stat()
	return &netboot.File{ReadSeekCloser: f, Size: i.Size(), ContentType: "application/efi", ETag: `"x"`, ModTime: i.ModTime()}, nil
}
func (c *canned) Report(_ context.Context, token, what string) error { c.note("report %s", what); close(c.installed); return nil }

type board struct{ target protocol.BootTarget; c *canned; off chan struct{} }
func (b *board) NextBoot() protocol.BootTarget { return b.target }
func (b *board) BootConsumed(t protocol.BootTarget) {}
func (b *board) MachineChanged(s sim.MachineState) { b.c.note("machine %s", s); if s == sim.MachineOff { close(b.off) } }

func TestHalf(t *testing.T) {
	need(t)
	ctx := t.Context()
	dir := t.TempDir()
	c := &canned{start: time.Now(), installed: make(chan struct{})}
	p := buildPayload(ctx, t, dir)
	i, _ := os.Stat(p.installer)
	c.note("payload %d", i.Size())
	c.file = p.installer
	ns, err := netns.New(ctx, "rack")
	if err != nil { t.Fatal(err) }
	defer ns.Close()
	must := func(err error) { t.Helper(); if err != nil { t.Fatal(err) } }
	must(netns.Bridge(ctx, netns.Port{Namespace: ns, Name: "boot0", Address: "10.7.0.1/24"}))
	must(ns.Tap(ctx, "tap0", "boot0"))
	must(ns.Do(func() error {
		d, err := dhcp.New(dhcp.Config{Segment: "boot", Interface: "boot0", Resolver: c, Leases: c, Evidence: c, Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		if err != nil { return err }
		go d.Run(ctx)
		h, err := httpboot.New(httpboot.Config{Listen: netip.MustParseAddrPort("10.7.0.1:8080"), Files: c, Evidence: c})
		if err != nil { return err }
		go h.Run(ctx)
		return nil
	}))
	td := exec.Command("tcpdump", "-ni", "boot0", "-v", "udp or arp")
	td.Stdout, td.Stderr = os.Stderr, os.Stderr
	must(ns.Start(td))
	defer td.Process.Kill()
	disk := filepath.Join(dir, "vda")
	f, _ := os.Create(disk); f.Truncate(64<<20); f.Close()
	m, err := sim.NewQEMU(sim.QEMUConfig{Dir: filepath.Join(dir, "m"), Code: ovmfCode, Vars: ovmfVars, Disk: disk, Tap: "tap0", MAC: "52:54:00:00:00:01", UUID: "11111111-2222-3333-4444-555555555555", Post: time.Second})
	must(err)
	defer m.Close()
	defer func() { b, _ := os.ReadFile(m.SerialLog()); fmt.Fprintln(os.Stderr, strings.ReplaceAll(string(b), "\x1b", "^")) }()
	b := &board{protocol.TargetUefiHTTP, c, make(chan struct{})}
	c.start = time.Now()
	must(ns.Do(func() error { return m.PowerOn(b) }))
	select { case <-b.off: case <-time.After(50*time.Second): t.Fatal("not off") }
	select { case <-c.installed: default: t.Fatal("not installed") }
	b = &board{protocol.TargetHdd, c, make(chan struct{})}
	c.start = time.Now()
	must(ns.Do(func() error { return m.PowerOn(b) }))
	for {
		raw, _ := os.ReadFile(m.SerialLog())
		if strings.Contains(string(raw), "system runs from disk") { break }
		if time.Since(c.start) > 90*time.Second { t.Fatal("no marker") }
		time.Sleep(100*time.Millisecond)
	}
	c.note("marker")
	time.Sleep(time.Second)
	must(m.Shutdown())
	select { case <-b.off: case <-time.After(30*time.Second): t.Fatal("not off") }
	_ = io.EOF
}
