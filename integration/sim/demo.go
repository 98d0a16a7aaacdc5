package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
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
	cfg    DemoConfig
	play   scenario
	rack   demoRack
	site   demoSite
	report demoReport
	image  string // of the claim
}

// newDemo is a demo of which nothing runs yet, with its files in a folder.
func newDemo(cfg DemoConfig, play scenario, dir string) *Demo {
	return &Demo{cfg: cfg, play: play, site: demoSite{bin: cfg.Bin, dir: dir}, report: demoReport{out: cfg.Out, started: time.Now()}}
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
	d := newDemo(cfg, play, dir)
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
		if err := d.report.step(ctx, s); err != nil {
			return err
		}
	}
	d.report.summary()
	if cfg.Keep {
		d.invite()
		<-ctx.Done()
	}
	return nil
}

// prepare starts what is not Rackboot: servers with their BMCs and a registry
// with one image.
func (d *Demo) prepare() error {
	if err := d.site.choosePorts(); err != nil {
		return err
	}
	if err := d.rack.start(d.play.servers, d.site.ports.dhcp, d.site.path("rack.log")); err != nil {
		return err
	}
	var err error
	d.image, _, err = d.rack.push("os:1.0")
	return err
}

func (d *Demo) close() error { return errors.Join(d.site.stop(), d.rack.close()) }
