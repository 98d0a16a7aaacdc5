package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"rackboot/integration/powerlog"
	"rackboot/integration/sim"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// Config says what site to run.
type Config struct {
	Bin string // folder with the programs
	// Group are the numbers of the servers that are a group and boot from the network.
	Group   []int
	Dir     string // folder for everything that is written
	Servers int
	Hubs    int // that share a store of NATS servers; fewer than two are one by itself
}

// Server is a simulated server.
type Server struct {
	Name    string
	MAC     string
	Machine *Process // with its BMC
	Front   *Front
	log     string
	bmc     string // address of the BMC itself
	dhcp    string
	http    string
	grouped bool
}

// Log is what the machine has written of its life.
func (s *Server) Log() ([]powerlog.Entry, error) { return powerlog.ReadFile(s.log) }

// Site is a site that runs.
type Site struct {
	Hub, Agent           *Process
	HubDisk, AgentDisk   *Disk
	HubClock, AgentClock Clock
	Servers              []*Server
	// Broker and HubAPI are the ways from the agent to the hub.
	Broker, HubAPI *Wire
	Client         *api.Client
	// Dice are thrown by faults, and Note says what they did.
	Dice *rand.Rand
	Note func(format string, args ...any)

	// Several is nil where there is one hub.
	Several *Several

	filter      *filter
	twin        atomic.Pointer[Process]
	config      Config
	registry    *sim.Registry
	images      []string
	fingerprint string
	ports       map[string]string
}

// The room on the disks, in bytes. The agent keeps 192 MiB free of boot files.
const (
	hubRoom   = 256 << 20
	agentRoom = 512 << 20
)

// Open starts a site: hub and agent know each other, each server was read and has no claim.
func Open(ctx context.Context, c Config) (s *Site, err error) {
	s = &Site{config: c, ports: map[string]string{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
			s = nil
		}
	}()
	var f *filter
	if f, err = newFilter(); err != nil { // first: nothing is reached in a network of one's own before it
		return s, err
	}
	s.filter = f
	if err = s.prepare(); err != nil {
		return s, err
	}
	for _, v := range s.Servers {
		if err = v.Machine.Start(); err != nil {
			return s, err
		}
	}
	if s.Several != nil {
		err = s.startSeveral(ctx)
	} else {
		err = s.Hub.Start()
	}
	if err != nil {
		return s, err
	}
	if err = s.await(ctx, "the hub", s.Ready); err != nil {
		return s, err
	}
	if err = s.join(ctx); err != nil {
		return s, err
	}
	if err = s.Agent.Start(); err != nil {
		return s, err
	}
	return s, s.await(ctx, "a read of every server", s.allRead)
}

// prepare makes everything that is there before the programs are started.
func (s *Site) prepare() (err error) {
	if s.AgentDisk, err = newDisk(s.path("agent"), agentRoom); err != nil {
		return err
	}
	names := []string{"api", "mqtt", "api-wire", "mqtt-wire"}
	ports, err := sim.FreeAddresses("127.0.0.1", len(names)+4*s.config.Servers)
	if err != nil {
		return err
	}
	for i, n := range names {
		s.ports[n] = ports[i].String()
	}
	ports = ports[len(names):]
	if s.Broker, err = newWire(s.ports["mqtt-wire"], s.ports["mqtt"]); err != nil {
		return err
	}
	if s.HubAPI, err = newWire(s.ports["api-wire"], s.ports["api"]); err != nil {
		return err
	}
	if s.registry, err = sim.StartRegistry("127.0.0.1:0"); err != nil {
		return err
	}
	for i := range 2 {
		// The simulated firmware runs no code.
		ref, err := s.registry.Push(fmt.Sprintf("storm/os:%d", i+1), sim.UKI(bytes.Repeat([]byte{'a' + byte(i)}, 1<<20)))
		if err != nil {
			return err
		}
		digest, err := s.digest(ref)
		if err != nil {
			return err
		}
		s.images = append(s.images, strings.TrimSuffix(ref, fmt.Sprintf(":%d", i+1))+"@"+digest)
	}
	cert, fingerprint, err := pair()
	if err != nil {
		return err
	}
	s.fingerprint = fingerprint
	for i := range s.config.Servers {
		v := &Server{
			Name: fmt.Sprintf("n%02d", i+1), MAC: fmt.Sprintf("52:54:00:57:00:%02x", i+1),
			grouped: slices.Contains(s.config.Group, i),
			bmc:     ports[4*i].String(), dhcp: ports[4*i+1].String(), http: ports[4*i+2].String(),
		}
		v.log = s.path(v.Name + ".power.jsonl")
		v.Machine = newProcess(v.Name, s.path(v.Name+".log"), s.program("rackboot-sim"), nil, "rack", "--config", s.path(v.Name+".yaml"))
		if v.Front, err = newFront(ports[4*i+3].String(), v.bmc, cert); err != nil {
			return err
		}
		s.Servers = append(s.Servers, v)
	}
	s.AgentClock = Clock{s.path("clock-agent")}
	if err := s.AgentClock.Step(0); err != nil {
		return err
	}
	if err := s.prepareHub(); err != nil {
		return err
	}
	s.Agent = newProcess("agent", s.path("agent.log"), s.daemon("rackboot-agent"), []string{s.AgentClock.env()}, "run", "--config", s.path("agent.yaml"))
	return s.write()
}

// prepareHub makes the hub, or the hubs.
func (s *Site) prepareHub() (err error) {
	if s.config.Hubs > 1 {
		return s.prepareSeveral()
	}
	if s.HubDisk, err = newDisk(s.path("hub"), hubRoom); err != nil {
		return err
	}
	s.HubClock = Clock{s.path("clock-hub")}
	s.Hub = newProcess("hub", s.path("hub.log"), s.daemon("rackboot-hub"), []string{s.HubClock.env()}, "run", "--config", s.path("hub.yaml"))
	return s.HubClock.Step(0)
}

func (s *Site) path(name string) string { return filepath.Join(s.config.Dir, name) }

func (s *Site) program(name string) string { return filepath.Join(s.config.Bin, name) }

// daemon is a daemon of the storm's own build, which has a clock that can be stepped.
func (s *Site) daemon(name string) string { return filepath.Join(s.config.Bin, "storm", name) }

// digest asks the registry which image a reference is.
func (s *Site) digest(ref string) (string, error) {
	name, tag, _ := strings.Cut(strings.TrimPrefix(ref, s.registry.Addr+"/"), ":")
	resp, err := http.Head("http://" + s.registry.Addr + "/v2/" + name + "/manifests/" + tag)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }() // it has none
	digest := resp.Header.Get("Docker-Content-Digest")
	if digest == "" {
		return "", fmt.Errorf("the registry does not say which image %s is: %s", ref, resp.Status)
	}
	return digest, nil
}

// HubData and AgentData are the folders of the stores.
func (s *Site) HubData() string { return filepath.Join(s.HubDisk.Dir, "data") }

// AgentData is the agent's.
func (s *Site) AgentData() string { return filepath.Join(s.AgentDisk.Dir, "data") }

// Rackctl runs rackctl as an operator does.
func (s *Site) Rackctl(ctx context.Context, args ...string) (out, errs string, code int) {
	return run(ctx, []string{"RACKCTL_CONFIG=" + s.path("rackctl.yaml")}, s.program("rackctl"), args...)
}

// Ready reports whether the hub serves.
func (s *Site) Ready(ctx context.Context) error {
	if s.Several == nil && !s.Hub.Running() {
		return errors.New("the hub has ended")
	}
	if s.Client == nil {
		ca, err := os.ReadFile(filepath.Join(s.HubData(), "ca.pem"))
		if err != nil {
			return err
		}
		token, err := os.ReadFile(filepath.Join(s.HubData(), "pki", "admin.token"))
		if err != nil {
			return err
		}
		if s.Client, err = api.NewClient(api.Config{BaseURL: "https://" + s.ports["api"], CA: ca, Token: strings.TrimSpace(string(token))}); err != nil {
			return err
		}
	}
	return s.Client.Ready(ctx)
}

// AgentAnswers asks the agent on its own socket how it is.
func (s *Site) AgentAnswers(ctx context.Context) error {
	_, errs, code := run(ctx, nil, s.program("rackboot-agent"), "status", "--config", s.path("agent.yaml"))
	if code != 0 {
		return fmt.Errorf("the agent does not answer: %s", errs)
	}
	return nil
}

// Restored is what an operator runs after the hub's store was put back from a copy.
func (s *Site) Restored(ctx context.Context) error {
	out, errs, code := run(ctx, []string{s.HubClock.env()}, s.daemon("rackboot-hub"), "restored", "--config", s.path("hub.yaml"))
	if code != 0 {
		return fmt.Errorf("rackboot-hub restored: exit code %d: %s%s", code, out, errs)
	}
	return nil
}

// Write has the hub write something that changes nothing at the rack.
func (s *Site) Write(ctx context.Context) error {
	_, err := write(ctx, s.Client)
	return err
}

// write has a hub write something, and returns what it shows of it.
func write(ctx context.Context, c *api.Client) (said string, err error) {
	rack, err := api.Get[*resource.Rack](ctx, c, RackName)
	if err != nil {
		return "", err
	}
	rack.Spec.Description = fmt.Sprintf("written at %d", powerlog.Now())
	rack.Status = resource.RackStatus{}
	_, err = c.Objects.Apply(ctx, []resource.Object{rack}, false)
	return rack.Spec.Description, err
}

// stepWithin bounds a step of the preparation.
const stepWithin = 45 * time.Second

func (s *Site) await(ctx context.Context, what string, so func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, stepWithin)
	defer cancel()
	for {
		try, stop := context.WithTimeout(ctx, 2*time.Second)
		err := so(try)
		stop()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s did not come within %s: %w", what, stepWithin, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Keep ends hub and agent, and copies their state out of their file systems, which end with
// the site.
func (s *Site) Keep() (err error) {
	for _, p := range []*Process{s.twin.Load(), s.Agent, s.Hub} {
		if p != nil {
			err = errors.Join(err, p.Kill())
		}
	}
	for name, d := range map[string]*Disk{"hub": s.HubDisk, "agent": s.AgentDisk} {
		if d != nil {
			err = errors.Join(err, copyTree(d.Dir, s.path("kept-"+name)))
		}
	}
	return err
}

// Close ends every process and every proxy.
func (s *Site) Close() (err error) {
	all := []*Process{s.twin.Load(), s.Agent, s.Hub}
	for _, v := range s.Servers {
		all = append(all, v.Machine)
	}
	for _, p := range all {
		if p != nil {
			err = errors.Join(err, p.Kill())
		}
	}
	if s.Several != nil {
		err = errors.Join(err, s.Several.close())
	}
	for _, v := range s.Servers {
		if v.Front != nil {
			v.Front.close()
		}
	}
	for _, w := range []*Wire{s.Broker, s.HubAPI} {
		if w != nil {
			w.close()
		}
	}
	if s.Client != nil {
		s.Client.CloseIdle()
	}
	if s.registry != nil {
		err = errors.Join(err, s.registry.Close())
	}
	for _, d := range []*Disk{s.HubDisk, s.AgentDisk} {
		if d != nil {
			err = errors.Join(err, d.close())
		}
	}
	return err
}
