package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"rackboot/bmc/sim"
	"rackboot/protocol/api"
)

// DemoConfig says where the demo finds what it runs.
type DemoConfig struct {
	Bin       string // folder of rackboot-hub, rackboot-agent and rackctl
	Manifests fs.FS  // as those of configs/demo
	Keep      bool   // stay up at the end, and say what to try
	Out       io.Writer
}

// Demo shows the main job: a hub and an agent as separate programs, a rack of two
// simulated servers, and real packets between them on loopback.
type Demo struct {
	cfg     DemoConfig
	dir     string
	started time.Time
	log     *os.File
	servers []*Server
	reg     *Registry
	image   string
	ports   demoPorts
	hub     *Process
	agent   *Process
	client  *api.Client
	seen    uint64 // last event that was printed
	rows    []demoRow
}

type demoPorts struct{ api, mqtt, hubMetrics, agentMetrics, dhcp, http string }

type demoRow struct {
	step, detail string
	at           time.Duration
}

// RunDemo runs the demo to its end. The error says which step failed and where the
// logs are.
func RunDemo(ctx context.Context, cfg DemoConfig) (err error) {
	dir, err := os.MkdirTemp("", "rackboot-demo-")
	if err != nil {
		return err
	}
	d := &Demo{cfg: cfg, dir: dir, started: time.Now()}
	defer func() {
		err = errors.Join(err, d.close())
		if err == nil {
			err = os.RemoveAll(dir)
			return
		}
		err = fmt.Errorf("%w\nlogs and state are in %s", err, dir)
	}()
	if err := d.prepare(); err != nil {
		return err
	}
	for _, s := range d.script() {
		if err := d.step(ctx, s); err != nil {
			return err
		}
	}
	d.summary()
	if cfg.Keep {
		d.invite()
		<-ctx.Done()
	}
	return nil
}

// prepare starts what is not Rackboot: two servers with their BMCs and a registry
// with one image.
func (d *Demo) prepare() error {
	var err error
	if d.log, err = os.Create(filepath.Join(d.dir, "rack.log")); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(d.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if err := d.choosePorts(); err != nil {
		return err
	}
	dhcp, err := net.ResolveUDPAddr("udp4", d.ports.dhcp)
	if err != nil {
		return err
	}
	personality := sim.Plain()
	personality.PowerOnDelay, personality.PowerOffDelay = 300*time.Millisecond, 300*time.Millisecond
	for i := range 2 {
		s, err := StartServer(ServerConfig{
			Name: fmt.Sprintf("server-%d", i+1), MAC: fmt.Sprintf("52:54:00:dd:00:%02x", i+1), Username: "demo", Password: "demo",
			Personality: personality, DHCP: dhcp, Speed: 8,
			Post: time.Second, Install: time.Second, Shutdown: 500 * time.Millisecond, Logger: log,
		})
		if err != nil {
			return err
		}
		d.servers = append(d.servers, s)
	}
	if d.reg, err = StartRegistry("127.0.0.1:0"); err != nil {
		return err
	}
	// The simulated firmware runs no code.
	uki := UKI(bytes.Repeat([]byte("demo unified kernel image "), 200_000))
	d.image, err = d.reg.Push("demo/os:1.0", uki)
	return err
}

func (d *Demo) choosePorts() error {
	ports := []*string{&d.ports.api, &d.ports.mqtt, &d.ports.hubMetrics, &d.ports.agentMetrics, &d.ports.http, &d.ports.dhcp}
	addrs, err := FreeAddresses("127.0.0.1", len(ports))
	for i, a := range addrs {
		*ports[i] = a.String()
	}
	return err
}

func (d *Demo) close() error {
	var errs []error
	for _, p := range []*Process{d.agent, d.hub} {
		if p != nil {
			errs = append(errs, p.Stop())
		}
	}
	for _, s := range d.servers {
		errs = append(errs, s.Close())
	}
	if d.reg != nil {
		errs = append(errs, d.reg.Close())
	}
	if d.log != nil {
		errs = append(errs, d.log.Close())
	}
	return errors.Join(errs...)
}

// rackctl runs rackctl as a person would.
func (d *Demo) rackctl(ctx context.Context, args ...string) (string, error) {
	return run(ctx, filepath.Join(d.cfg.Bin, "rackctl"), args...)
}

func (d *Demo) path(parts ...string) string {
	return filepath.Join(append([]string{d.dir}, parts...)...)
}
