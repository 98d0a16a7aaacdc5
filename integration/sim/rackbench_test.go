//go:build host

package sim

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

var (
	benchMachines = flag.Int("machines", 500, "how many machines BenchmarkRack and BenchmarkAgent have")
	benchPoll     = flag.Duration("poll", 15*time.Second, "how often the agent of BenchmarkAgent reads a machine; the default is that of a rack")
)

// benchRack is a rackboot-sim rack with many machines, and a hub and an agent, as processes.
type benchRack struct {
	*Demo

	machines *Process
}

func newBenchRack(ctx context.Context, b *testing.B, poll time.Duration) *benchRack {
	b.Helper()
	d := newDemo(DemoConfig{Bin: programs(b), Manifests: os.DirFS(benchManifests(b, poll)), Out: new(bytes.Buffer)}, scenario{}, b.TempDir())
	b.Cleanup(func() {
		if err := d.close(); err != nil {
			b.Error(err)
		}
	})
	must(b, "prepare", d.prepare())
	must(b, "files", d.writeFiles())
	rackFile, machines := d.site.path("machines.yaml"), d.site.path("machines.json")
	must(b, "rack file", os.WriteFile(rackFile, fmt.Appendf(nil, `
manifests: {file: %q, rack: demo, segment: demo-boot, credentialsRef: "local:demo-bmc", labels: {role: demo}}
machines:
  - {count: %d, name: "m{n}", mac: "52:54:00:51:00:01", bmc: "127.0.0.1:0", credentials: %q, dhcp: %q, speed: 2, post: 1s, install: 2s}
`, machines, *benchMachines, d.site.path("credentials", "demo-bmc"), d.site.ports.dhcp), 0o600))
	rack, err := StartProcess(d.site.path("machines.log"), filepath.Join(d.cfg.Bin, "rackboot-sim"), "rack", "--config", rackFile)
	must(b, "rackboot-sim rack", err)
	b.Cleanup(func() { _ = rack.Stop() }) // it is what is measured, and not its end
	must(b, "machines", until(ctx, func() (bool, error) { _, err := os.Stat(machines); return err == nil, nil }))
	for _, step := range []demoStep{{"hub", d.site.startHub}, {"login", d.site.login}, {"rack", d.site.apply("manifests")}, {"machines", d.site.apply("machines.json")}, {"join", d.site.joinAgent}} {
		_, err := step.do(ctx)
		must(b, step.title, err)
	}
	return &benchRack{d, rack}
}

// all waits until something is so of all machines.
func (r *benchRack) all(ctx context.Context, b *testing.B, what string, is func(*resource.ServerReport) bool) {
	b.Helper()
	n := 0
	err := until(ctx, func() (bool, error) {
		time.Sleep(200 * time.Millisecond) // 500 statuses are work for the hub
		list, err := api.GetAll[*resource.Server](ctx, r.site.client)
		n = 0
		for _, s := range list {
			if s.Status.Report != nil && is(s.Status.Report) {
				n++
			}
		}
		return n == *benchMachines, err
	})
	if err != nil {
		b.Fatalf("%s: %d of %d machines: %v", what, n, *benchMachines, err)
	}
}

func must(b *testing.B, what string, err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("%s: %v", what, err)
	}
}

// atRest is how long BenchmarkAgent looks at the agent after it has read all boards.
const atRest = time.Minute

// BenchmarkAgent is what an agent takes that has read all machines of a rackboot-sim rack and
// their boards, while it goes on reading them: memory, and processor time. Then it is stopped and started, until it
// serves, and until it has read all machines.
func BenchmarkAgent(b *testing.B) {
	ctx, cancel := context.WithTimeout(b.Context(), 10*time.Minute)
	defer cancel()
	r := newBenchRack(ctx, b, *benchPoll)
	r.all(ctx, b, "boards", func(s *resource.ServerReport) bool {
		return s.Observation.Power == protocol.PowerOff && s.Identity != ""
	})
	b.ReportMetric(status(b, r.site.agent, "VmHWM")/1024, "peak-MiB")
	before, rss, n := cpu(b, r.site.agent), 0.0, 0
	for began := time.Now(); time.Since(began) < atRest; n++ {
		time.Sleep(time.Second)
		rss = max(rss, status(b, r.site.agent, "VmRSS"))
	}
	b.ReportMetric(rss/1024, "rest-MiB") // the most
	b.ReportMetric(status(b, r.site.agent, "RssAnon")/1024, "anon-MiB")
	b.ReportMetric(100*(cpu(b, r.site.agent)-before).Seconds()/atRest.Seconds(), "cpu-%")
	began := time.Now()
	_, err := r.site.restartAgent(ctx)
	must(b, "restart", err)
	started := time.Now()
	r.all(ctx, b, "boards after a restart", func(s *resource.ServerReport) bool {
		return s.Observation.Power == protocol.PowerOff && s.Observation.StartedAt.After(started)
	})
	b.ReportMetric(started.Sub(began).Seconds(), "restart-s")
	b.ReportMetric(time.Since(began).Seconds(), "all-read-s")
}

// BenchmarkRack is one rackboot-sim rack with many machines, all claimed at once, with a hub
// and an agent as processes: from the claims until every machine was installed from the
// network and runs from its disk, and what the simulator takes for it.
func BenchmarkRack(b *testing.B) {
	ctx, cancel := context.WithTimeout(b.Context(), 10*time.Minute)
	defer cancel()
	d := newBenchRack(ctx, b, 500*time.Millisecond)
	rack := d.machines
	all := func(what string, is func(*resource.ServerReport) bool) {
		b.Helper()
		d.all(ctx, b, what, is)
	}
	all("read", func(s *resource.ServerReport) bool { return s.Observation.Power == protocol.PowerOff })
	idle := status(b, rack, "VmRSS")
	var claims strings.Builder
	for i := range *benchMachines {
		name := fmt.Sprintf("m%0*d", len(strconv.Itoa(*benchMachines)), i+1)
		fmt.Fprintf(&claims, "---\napiVersion: rackboot/v1\nkind: Claim\nmetadata: {name: %s}\nspec:\n  serverRef: {name: %s}\n  power: \"On\"\n  image: %s\n  bootPolicy: {firstBoot: UefiHttp, boot: Hdd}\n", name, name, d.image)
	}
	must(b, "claims", os.WriteFile(d.site.path("claims.yaml"), []byte(claims.String()), 0o600))
	before := cpu(b, rack)
	began := time.Now()
	for b.Loop() {
		_, err := d.site.apply("claims.yaml")(ctx)
		must(b, "claims", err)
		all("disk boot", func(s *resource.ServerReport) bool {
			a := s.Attempt
			return a != nil && a.Intended == protocol.TargetHdd && a.State == resource.AttemptSucceeded
		})
	}
	b.ReportMetric(time.Since(began).Seconds(), "all-s")
	said, err := os.ReadFile(d.site.path("machines.log"))
	must(b, "the machines' log", err)
	b.ReportMetric(float64(bytes.Count(said, []byte("no boot from the network"))), "failed-boots")
	b.ReportMetric(idle/1024, "idle-MiB")
	b.ReportMetric(status(b, rack, "VmHWM")/1024, "peak-MiB")
	b.ReportMetric((cpu(b, rack) - before).Seconds(), "cpu-s")
}

// benchManifests are those of the demo, with room for all machines and without servers.
func benchManifests(b *testing.B, poll time.Duration) string {
	b.Helper()
	raw, err := os.ReadFile("../../configs/demo/rack.yaml")
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	raw = bytes.ReplaceAll(raw, []byte("127.77.0.99"), []byte("127.77.7.254"))
	raw = bytes.ReplaceAll(raw, []byte("pollInterval: 500ms"), fmt.Appendf(nil, "pollInterval: %s", poll))
	if err := os.WriteFile(filepath.Join(dir, "rack.yaml"), raw, 0o600); err != nil {
		b.Fatal(err)
	}
	return dir
}

// status is a figure of /proc/PID/status, in KiB.
func status(b *testing.B, p *Process, key string) float64 {
	b.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if value, ok := strings.CutPrefix(line, key+":"); ok {
			n, err := strconv.ParseFloat(strings.Fields(value)[0], 64)
			if err != nil {
				b.Fatal(err)
			}
			return n
		}
	}
	b.Fatalf("no %s", key)
	return 0
}

// cpu is the processor time of a process so far; the clock of proc(5) has 100 ticks a second.
func cpu(b *testing.B, p *Process) time.Duration {
	b.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	fields := strings.Fields(rest)
	var ticks int
	for _, f := range fields[11:13] {
		n, err := strconv.Atoi(f)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
