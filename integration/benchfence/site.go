package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	agentdaemon "rackboot/agent/daemon"
	hubdaemon "rackboot/hub/daemon"
	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

const (
	rackName    = "bench"
	segmentName = "boot"
	bootImage   = 60 << 20
)

// site is everything that runs, and this process's ends of it.
type site struct {
	plan     plan
	dir      string
	servers  []server
	registry *registry
	hub      *child
	agent    *child
	fleet    *child
	client   *api.Client
	ca       []byte
	hubURL   string
	http     string
	waiting  *waiting
	boot     string   // image of the network boots
	pulls    []string // images to be pulled, one for each server of that group
	pulled   int      // of them, how many were asked for
	others   bool     // the other racks are there
}

// openSite starts hub, BMCs and agent in folder dir, and returns when the agent has
// read all BMCs.
func openSite(ctx context.Context, p plan, dir string) (s *site, err error) {
	s = &site{plan: p, dir: dir, waiting: newWaiting()}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	ports, err := sim.FreeAddresses("127.0.0.1", 4)
	if err != nil {
		return s, err
	}
	dhcp := ports[2].String()
	s.http = ports[3].String()
	if s.registry, err = startRegistry(); err != nil {
		return s, err
	}
	if err = s.images(); err != nil {
		return s, err
	}
	err = s.child(ctx, "bmcs", &s.fleet, &s.servers, childConfig{Fleet: &fleetPlan{
		Held: p.Servers, Boot: p.Boots, Pull: len(s.pulls), OffMin: p.OffMin, OffMax: p.OffMax, DHCP: dhcp, Rate: p.BootRate,
	}})
	if err != nil {
		return s, err
	}
	hub := hubdaemon.Config{
		DataDir: filepath.Join(dir, "hub"), API: ports[0].String(), MQTT: ports[1].String(), Names: []string{"127.0.0.1"},
		Images: hubdaemon.Images{PlainHTTP: []string{s.registry.addr}},
	}
	if err = s.child(ctx, "hub", &s.hub, nil, childConfig{Hub: &hub}); err != nil {
		return s, err
	}
	if err = s.dial(ctx, hub); err != nil {
		return s, err
	}
	if err = s.apply(ctx, s.manifests()); err != nil {
		return s, err
	}
	agent, err := s.agentConfig(dhcp)
	if err != nil {
		return s, err
	}
	if err = s.join(ctx, rackName, agent); err != nil {
		return s, err
	}
	if err = s.child(ctx, "agent", &s.agent, nil, childConfig{Agent: &agent}); err != nil {
		return s, err
	}
	return s, s.allRead(ctx)
}

func (s *site) child(ctx context.Context, name string, to **child, ready any, c childConfig) (err error) {
	if s.plan.Profile != "" {
		c.Profile = filepath.Join(s.plan.Profile, name)
	}
	if *to, err = startChild(ctx, c, ready, s.waiting.fenced); err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	return nil
}

// images are made for one pull alone and one with everything else.
func (s *site) images() (err error) {
	if s.boot, err = s.registry.add("boot", bootImage>>s.plan.Small, 1); err != nil {
		return err
	}
	for i := range 2 * s.plan.Images {
		ref, err := s.registry.add(fmt.Sprintf("pull-%d", i), s.plan.Pull/int64(s.plan.Images), uint64(i+2))
		if err != nil {
			return err
		}
		s.pulls = append(s.pulls, ref)
	}
	return nil
}

func (s *site) dial(ctx context.Context, hub hubdaemon.Config) (err error) {
	if s.ca, err = os.ReadFile(filepath.Join(hub.DataDir, "ca.pem")); err != nil {
		return err
	}
	token, err := os.ReadFile(filepath.Join(hub.DataDir, "pki", "admin.token"))
	if err != nil {
		return err
	}
	s.hubURL = "https://" + hub.API
	s.client, err = api.NewClient(api.Config{BaseURL: s.hubURL, CA: s.ca, Token: strings.TrimSpace(string(token))})
	if err != nil {
		return err
	}
	return s.until(ctx, "the hub", func() error { return s.client.Ready(ctx) })
}

func (s *site) agentConfig(dhcp string) (c agentdaemon.Config, err error) {
	credentials := filepath.Join(s.dir, "credentials")
	if err = os.MkdirAll(credentials, 0o700); err != nil {
		return c, err
	}
	if err = os.WriteFile(filepath.Join(credentials, "bmc"), []byte("username: "+username+"\npassword: "+password+"\n"), 0o600); err != nil {
		return c, err
	}
	return agentdaemon.Config{
		DataDir: filepath.Join(s.dir, "agent"), CredentialsDir: credentials,
		Segments: []agentdaemon.Segment{{Name: segmentName, DHCP: dhcp, HTTP: s.http}},
		Images:   agentdaemon.Images{QuotaMiB: (2*s.plan.Pull)>>20 + 2*bootImage>>20, PlainHTTP: []string{s.registry.addr}},
	}, nil
}

func (s *site) join(ctx context.Context, rack string, c agentdaemon.Config) error {
	token, err := s.client.Agents.NewToken(ctx, rack, api.TokenRequest{})
	if err == nil {
		_, err = agentdaemon.Join(ctx, c, s.hubURL, token.Token, s.ca)
	}
	return err
}

// manifests are the rack with its servers.
func (s *site) manifests() []resource.Object {
	rack := &resource.Rack{Spec: resource.RackSpec{SettleWindow: protocol.Duration(s.plan.Settle)}}
	rack.Metadata.Name = rackName
	seg := &resource.Segment{Spec: resource.SegmentSpec{
		RackRef: resource.Ref{Name: rackName}, Prefix: "127.0.0.0/8", Address: "127.0.0.1",
		Pool: resource.Pool{From: "127.77.0.10", To: "127.77.0.250"}, BaseURL: "http://" + s.http,
	}}
	seg.Metadata.Name = segmentName
	objs := []resource.Object{rack, seg}
	for _, v := range s.servers {
		b := &resource.BMC{Spec: resource.BMCSpec{
			RackRef: resource.Ref{Name: rackName}, Address: v.Address, CredentialsRef: "local:bmc", TLS: resource.BMCTLS{Fingerprint: v.Fingerprint},
		}}
		b.Metadata.Name = "bmc-" + v.Name
		n := &resource.Server{Spec: resource.ServerSpec{
			BMCRef: resource.Ref{Name: b.Metadata.Name}, SegmentRef: resource.Ref{Name: segmentName}, BootMAC: v.MAC,
		}}
		n.Metadata.Name = v.Name
		objs = append(objs, b, n)
	}
	return objs
}

func claim(server, image string) resource.Object {
	c := &resource.Claim{Spec: resource.ClaimSpec{
		ServerRef: &resource.Ref{Name: server}, Power: resource.WantOn, Image: image,
		BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootUefiHTTP, Boot: resource.BootHdd},
	}}
	c.Metadata.Name = "claim-" + server
	return c
}

// applyAtOnce keeps a request below what the hub takes.
const applyAtOnce = 1000

func (s *site) apply(ctx context.Context, objs []resource.Object) error {
	for _, o := range objs {
		o.Default()
	}
	for len(objs) > 0 {
		n := min(len(objs), applyAtOnce)
		if _, err := s.client.Objects.Apply(ctx, objs[:n], false); err != nil {
			return err
		}
		objs = objs[n:]
	}
	return nil
}

// of are the servers of a group.
func (s *site) of(group string) (out []server) {
	for _, v := range s.servers {
		if v.Group == group {
			out = append(out, v)
		}
	}
	return out
}

// allRead waits until the agent has read every BMC and every board, which it does once
// after its start.
func (s *site) allRead(ctx context.Context) error {
	return s.until(ctx, "a read of every board", func() error {
		list, err := s.client.Objects.List(ctx, resource.KindServer)
		if err != nil {
			return err
		}
		for _, o := range list {
			if v, ok := o.(*resource.Server); ok && (v.Status.Report == nil || v.Status.Report.Identity == "") {
				return fmt.Errorf("%s was not read", v.Metadata.Name)
			}
		}
		return nil
	})
}

// stepWithin bounds a step of the preparation.
const stepWithin = time.Minute

func (s *site) until(ctx context.Context, what string, ok func() error) error {
	for deadline := time.Now().Add(stepWithin); ; sleep(ctx, 100*time.Millisecond) {
		err := ok()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(deadline):
			return fmt.Errorf("%s did not come within %s: %w", what, stepWithin, err)
		}
	}
}

// profile begins a load's CPU profile in each child; empty ends the last.
func (s *site) profile(load string) error {
	if s.plan.Profile == "" {
		return nil
	}
	var err error
	for _, k := range []*child{s.hub, s.agent, s.fleet} {
		err = errors.Join(err, k.tell(order{Do: "profile", Load: load}, nil))
	}
	return err
}

// close ends every process.
func (s *site) close() (err error) {
	for _, k := range []*child{s.agent, s.hub, s.fleet} {
		if k != nil {
			err = errors.Join(err, k.end())
		}
	}
	if s.client != nil {
		s.client.CloseIdle()
	}
	if s.registry != nil {
		s.registry.close()
	}
	return err
}
