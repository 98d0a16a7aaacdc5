package sim

import (
	"bytes"
	"context"
	"crypto/sha256"
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
	"rackboot/protocol"
	"rackboot/protocol/api"
)

// DemoConfig says where the demo finds what it runs.
type DemoConfig struct {
	Bin       string // folder of rackboot-hub, rackboot-agent and rackctl
	Manifests fs.FS  // as those of configs/demo
	Scenario  string // of Scenarios; empty is the main job
	Servers   int    // how many; 0 is what the scenario needs
	Keep      bool   // stay up at the end, and say what to try
	Out       io.Writer
}

// MaxDemoServers is how many servers the demo can have.
const MaxDemoServers = 50

// Demo shows a scenario: a hub and an agent as separate programs, a rack of simulated
// servers, and real packets between them on loopback.
type Demo struct {
	cfg     DemoConfig
	play    scenario
	systems systems
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
	play, err := cfg.scenario()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "rackboot-demo-")
	if err != nil {
		return err
	}
	d := &Demo{cfg: cfg, play: play, dir: dir, started: time.Now()}
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
	for _, s := range play.steps(d) {
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

// prepare starts what is not Rackboot: servers with their BMCs and a registry
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
	for i := range d.play.servers {
		s, err := StartServer(ServerConfig{
			Name: fmt.Sprintf("server-%d", i+1), MAC: fmt.Sprintf("52:54:00:dd:00:%02x", i+1), Username: "demo", Password: "demo",
			Personality: personality, DHCP: dhcp, Speed: 8,
			Post: time.Second, Install: time.Second, Shutdown: 500 * time.Millisecond, Logger: log,
			Live: func() protocol.ProbeReport { return d.systems.run(d.servers[i]) },
		})
		if err != nil {
			return err
		}
		d.servers = append(d.servers, s)
	}
	if d.reg, err = StartRegistry("127.0.0.1:0"); err != nil {
		return err
	}
	d.image, _, err = d.push("os:1.0")
	return err
}

// push puts an image into the registry, and returns its reference and the digest of what
// boots of it.
func (d *Demo) push(name string) (reference, digest string, err error) {
	uki := demoUKI(name)
	reference, err = d.reg.Push("demo/"+name, uki)
	return reference, digestOfUKI(name), err
}

// demoUKI is an image of a name. The simulated firmware runs no code.
func demoUKI(name string) []byte {
	return UKI(bytes.Repeat([]byte("demo unified kernel image of "+name+" "), 150_000))
}

// digestOfUKI is of what boots of an image of a name.
func digestOfUKI(name string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(demoUKI(name))) }

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
	return run(ctx, []string{"RACKCTL_CONFIG=" + d.path("rackctl.yaml")}, filepath.Join(d.cfg.Bin, "rackctl"), args...)
}

func (d *Demo) path(parts ...string) string {
	return filepath.Join(append([]string{d.dir}, parts...)...)
}
