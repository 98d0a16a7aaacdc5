package site

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestRackFile: fifty machines of one rack file, in one process, boot from the network at
// once, each what its claim says and once, and no two of them are taken for one.
func TestRackFile(t *testing.T) {
	t.Parallel()
	const machines = 50
	s := newSite(t, 0)
	account := filepath.Join(s.dir, "account")
	if err := os.WriteFile(account, []byte("username: admin\npassword: secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	manifests := filepath.Join(s.dir, "machines.json")
	c, err := sim.ParseRackConfig("rack.yaml", fmt.Appendf(nil, `
manifests: {file: %q, rack: %s, segment: boot, credentialsRef: "local:bmc", labels: {role: node}}
machines:
  - {count: %d, name: "m{n}", mac: "52:54:00:51:00:f0", bmc: "127.0.0.1:0", credentials: %q, dhcp: "%s", speed: %d, post: 50ms, install: 100ms, shutdown: 50ms}
`, manifests, rackName, machines, account, s.dhcp, speed))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	printed, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := sim.RunRack(ctx, c, out, s.log)
		_ = out.CloseWithError(err) // as a program's end closes its output
		ended <- err
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	lines := bufio.NewScanner(printed)
	for i := range machines {
		if !lines.Scan() {
			t.Fatalf("%d machines came up: %v", i, lines.Err())
		}
	}

	s.startHub()
	s.apply(s.manifests()...)
	s.apply(made(t, manifests)...)
	agent := s.firstAgent()
	s.join(agent)
	s.startAgent(agent)
	for _, m := range c.Machines {
		s.untilServer(m.Name, "the first read", func(v *resource.Server) bool { return v.Status.Report.Observation.Power == protocol.PowerOff })
	}
	var claims []resource.Object
	for _, m := range c.Machines {
		claims = append(claims, s.claim(m.Name))
	}
	s.apply(claims...)
	// They boot at once, so that each has the time of all.
	s.within(machines*4*time.Second, "the boot of all", func() bool { return s.booted(c) == machines }, func() any { return s.behind(c) })
	leases := map[string]string{}
	for _, m := range c.Machines {
		v := s.untilServer(m.Name, "the disk boot after the installation", diskBoot)
		if n := len(v.Status.Conditions); n > 0 {
			t.Errorf("%s has %v", m.Name, v.Status.Conditions)
		}
		leases[v.Spec.BootMAC] = m.Name
	}
	if len(leases) != machines {
		t.Errorf("%d machines have %d MAC addresses", machines, len(leases))
	}
	s.until("each machine's event Provisioned", func() bool { return s.events(resource.EventProvisioned) == machines }, func() any { return s.events(resource.EventProvisioned) })
	if used, failed := s.events(resource.EventGrantUsed), s.events(resource.EventAttemptFailed); used != machines || failed != 0 {
		t.Errorf("%d grants were used and %d attempts failed, want %d and none", used, failed, machines)
	}
}

// made are the manifests of a file that rackboot-sim wrote.
func made(t *testing.T, path string) (objs []resource.Object) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // it is read only
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if lines.Text() == "---" {
			continue
		}
		var head struct{ Kind resource.Kind }
		if err := json.Unmarshal(lines.Bytes(), &head); err != nil {
			t.Fatal(err)
		}
		o := resource.NewObject(head.Kind)
		if err := json.Unmarshal(lines.Bytes(), o); err != nil {
			t.Fatal(err)
		}
		objs = append(objs, o)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return objs
}

// booted is how many machines of a file run from their disk after an installation.
func (s *site) booted(c sim.RackConfig) (n int) {
	for _, m := range c.Machines {
		if v, have := get[*resource.Server](s, m.Name); have && v.Status.Report != nil && diskBoot(v) {
			n++
		}
	}
	return n
}

// behind describes the machines of a file that do not run from their disk yet, a line each.
func (s *site) behind(c sim.RackConfig) string {
	var lines strings.Builder
	for _, m := range c.Machines {
		v, have := get[*resource.Server](s, m.Name)
		if have && v.Status.Report != nil && diskBoot(v) {
			continue
		}
		said, err := json.Marshal(v)
		fmt.Fprintf(&lines, "\n%s: %s %v", m.Name, said, err)
	}
	return lines.String()
}
