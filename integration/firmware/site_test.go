package firmware

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rackboot/integration/netns"
)

// Addresses. The racks differ in their uplinks only.
const (
	hubAddress  = "10.9.0.2"
	uplinkA     = "10.9.1.2"
	uplinkB     = "10.9.2.2"
	bootAddress = "10.7.0.1"   // of both agents
	bootServer  = "10.7.0.100" // the only address of both pools
	bmcAddress  = "10.8.0.2"   // of both BMCs
	bootNet     = "10.7.0.0/24"

	macA = "52:54:00:aa:00:01"
	macB = "52:54:00:bb:00:01"
)

// site is the network of one run, with what runs in it.
type site struct {
	dir       string // short: sockets are in it
	started   time.Time
	processes []*process
	probed    bool
	meddled   bool   // something has powered a server past us
	alone     bool   // there is rack-a only
	discovers bool   // its server is discovered
	agentFile string // of testdata; empty is agent.yaml
	secure    bool   // server-a has Secure Boot
	certs     string // folder with the certificates of HTTPS boot; empty is HTTP
	hubMore   string // of the hub's file
	memory    int    // MiB of a server; 0 is the simulator's default
	disk      int64  // bytes of its disk; 0 is diskA

	hub, router, rackA, rackB, serverB, probe *netns.Namespace
}

// newSite makes the folder and the network. What is in the folder is kept when the
// test fails.
func newSite(ctx context.Context, t *testing.T) *site {
	t.Helper()
	dir, err := os.MkdirTemp("", "rackboot-fw-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("captures, serial logs and daemon logs are kept in %s", dir)
			return
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	s := &site{dir: dir, started: time.Now()}
	for name, ns := range map[string]**netns.Namespace{
		"hub": &s.hub, "router": &s.router, "rack-a": &s.rackA, "rack-b": &s.rackB, "server-b": &s.serverB, "probe": &s.probe,
	} {
		if *ns, err = netns.New(ctx, name); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.leave(t, *ns) })
	}
	if err := s.connect(ctx); err != nil {
		t.Fatal(err)
	}
	return s
}

// leave closes a namespace, in which nothing may run any more.
func (s *site) leave(t *testing.T, ns *netns.Namespace) {
	if left, err := ns.Processes(); err != nil || len(left) > 0 {
		t.Errorf("processes %v are left in %s (%v)", left, ns.Name, err)
	}
	if err := ns.Close(); err != nil {
		t.Error(err)
	}
}

func (s *site) connect(ctx context.Context) error {
	type port = netns.Port
	return errors.Join(
		netns.Cable(ctx, port{Namespace: s.router, Name: "hub", Address: "10.9.0.1/24"}, port{Namespace: s.hub, Name: "up0", Address: hubAddress + "/24"}),
		netns.Cable(ctx, port{Namespace: s.router, Name: "rack-a", Address: "10.9.1.1/24"}, port{Namespace: s.rackA, Name: "up0", Address: uplinkA + "/24"}),
		netns.Cable(ctx, port{Namespace: s.router, Name: "rack-b", Address: "10.9.2.1/24"}, port{Namespace: s.rackB, Name: "up0", Address: uplinkB + "/24"}),
		s.hub.Run(ctx, "ip route add default via 10.9.0.1"),
		s.rackA.Run(ctx, "ip route add default via 10.9.1.1"),
		s.rackB.Run(ctx, "ip route add default via 10.9.2.1"),

		netns.Bridge(ctx, port{Namespace: s.rackA, Name: "boot0", Address: bootAddress + "/24"}),
		s.rackA.Tap(ctx, "tap0", "boot0"),
		s.rackA.Run(ctx, "ip address add "+bmcAddress+"/32 dev lo"),

		netns.Bridge(ctx, port{Namespace: s.rackB, Name: "boot0", Address: bootAddress + "/24"}),
		netns.Cable(ctx, port{Namespace: s.rackB, Name: "srv0"}, port{Namespace: s.serverB, Name: "eth0", Address: bootServer + "/24"}),
		s.serverB.Run(ctx, "ip link set eth0 address "+macB),
		s.rackB.Join(ctx, "srv0", "boot0"),
		netns.Cable(ctx, port{Namespace: s.rackB, Name: "bmc0", Address: "10.8.0.1/24"}, port{Namespace: s.serverB, Name: "bmc0", Address: bmcAddress + "/24"}),

		s.router.Set("ipv4/ip_forward", "1"),
		s.guard(ctx),
	)
}

// path is a file in the run's folder.
func (s *site) path(parts ...string) string {
	return filepath.Join(append([]string{s.dir}, parts...)...)
}

// write writes a file in the run's folder that only root may read.
func (s *site) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(s.path(name)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// read is the text of a file in the run's folder; empty while there is none.
func (s *site) read(parts ...string) string {
	raw, err := os.ReadFile(s.path(parts...))
	if err != nil {
		return ""
	}
	return string(raw)
}

// until looks at a condition until it is so. It fails the test when the time is
// over or a process has ended by itself.
func (s *site) until(ctx context.Context, t *testing.T, limit time.Duration, what string, so func(context.Context) (bool, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := so(ctx)
		if ok {
			break
		}
		if err = errors.Join(err, s.alive()); err != nil && ctx.Err() == nil {
			t.Fatalf("%s: %v", what, err)
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: not within %s (%v)", what, limit, ctx.Err())
		case <-tick.C:
		}
	}
	s.logf(t, "%s", what)
}

// logf logs when something was seen.
func (s *site) logf(t *testing.T, format string, args ...any) {
	t.Helper()
	t.Logf("%6.1fs  "+format, append([]any{time.Since(s.started).Seconds()}, args...)...)
}

// output runs a program inside a namespace and returns what it printed.
func (s *site) output(ctx context.Context, ns *netns.Namespace, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Env = append(os.Environ(), "RACKCTL_CONFIG="+s.path("rackctl.yaml"))
	if err := ns.Start(cmd); err != nil {
		return "", err
	}
	if err := cmd.Wait(); err != nil {
		return stdout.String(), errors.Join(err, errors.New(strings.TrimSpace(stderr.String())))
	}
	return stdout.String(), nil
}
