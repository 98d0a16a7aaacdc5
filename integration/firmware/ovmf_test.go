package firmware

import (
	"context"
	"encoding/json"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rackboot/protocol/resource"
)

// flowTimeout bounds the whole test, so that it ends by itself and takes its
// processes with it before the test program is killed.
const flowTimeout = 15 * time.Minute

// flow is the context of a whole test: it ends in time, and when the test program is
// interrupted.
func flow(t *testing.T) context.Context {
	t.Helper()
	return flowWithin(t, flowTimeout)
}

// flowWithin is a flow of another length.
func flowWithin(t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	need(t)
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	t.Cleanup(stop)
	ctx, cancel := context.WithTimeout(ctx, limit)
	t.Cleanup(cancel)
	return ctx
}

// Deadlines of what firmware does under emulation: many times of what was measured.
const (
	firmwareTimeout = 4 * time.Minute
	installTimeout  = 6 * time.Minute
)

// TestOVMF takes one server with real firmware through a claim's life, while a
// rack with the same addresses does the same next to it: one boot from the network
// that installs, a boot from disk, a hold that fences, and a boot from disk again. Past us it
// is stopped safely, and it boots its disk for another hub.
func TestOVMF(t *testing.T) {
	ctx := flow(t)
	s := newSite(ctx, t)
	s.buildPrograms(ctx, t)
	p := buildPayload(ctx, t, s.dir)
	s.logf(t, "programs and image built")
	s.checkRouter(ctx, t)
	s.logf(t, "router lets racks dial out only")
	router := s.capture(ctx, t, s.router, "any")
	s.capture(ctx, t, s.hub, "up0")
	captureA := s.capture(ctx, t, s.rackA, "boot0")
	captureB := s.capture(ctx, t, s.rackB, "boot0")

	s.startRegistry(ctx, t, p)
	s.startHub(ctx, t)
	s.startMachines(ctx, t)
	s.startAgents(ctx, t)

	s.rackctl(ctx, t, "apply", "-f", s.path("claim-a.yaml"), "-f", s.path("claim-b.yaml"))
	s.logf(t, "claims applied")
	s.install(ctx, t)
	first := s.diskBoot(ctx, t, 1, "")
	// The other rack has done the same with the same addresses meanwhile.
	s.event(ctx, t, firmwareTimeout, "server-b", resource.EventProvisioned, 1)
	s.event(ctx, t, firmwareTimeout, "server-b", resource.EventDiskBoot, 1)

	s.hold(ctx, t)
	s.refused(ctx, t)
	s.rackctl(ctx, t, "release", "--server", "server-a", "--key", "test")
	s.logf(t, "released")
	s.diskBoot(ctx, t, 2, first)

	// One boot from the network, and the one that was refused.
	s.check(t, captureA, macA, macB, asked{boots: 2, other: 1, files: 1})
	s.check(t, captureB, macB, macA, asked{boots: 1, other: 1, files: 1})
	if n := s.metric(ctx, t, s.rackA, `rackboot_http_boot_requests_total{code="200",method="GET",scheme="http",segment="boot-a"}`); n != "1" {
		t.Errorf("the agent sent a boot file %s times", n)
	}
	s.checkApart(ctx, t, router)
	s.checkPulls(t)
	s.move(ctx, t, s.safeStop(ctx, t))
}

// install follows the one boot from the network.
func (s *site) install(ctx context.Context, t *testing.T) {
	t.Helper()
	s.event(ctx, t, firmwareTimeout, "", resource.EventArtefactsLocal, len(s.racks()))
	for _, step := range []struct {
		code  resource.EventCode
		limit time.Duration
	}{
		{resource.EventArmed, firmwareTimeout},
		{resource.EventDHCPSeen, firmwareTimeout},
		{resource.EventFetched, firmwareTimeout},
		{resource.EventInstalled, installTimeout},
		{resource.EventProvisioned, firmwareTimeout},
	} {
		s.event(ctx, t, step.limit, "server-a", step.code, 1)
	}
}

// diskBoot waits for a boot from disk: the agent says so, and the system itself,
// whose boot is another one than before. It returns the boot's id.
func (s *site) diskBoot(ctx context.Context, t *testing.T, times int, before string) (boot string) {
	t.Helper()
	s.event(ctx, t, firmwareTimeout, "server-a", resource.EventDiskBoot, times)
	marker := regexp.MustCompile(`rackboot-test: system runs from disk, boot ([0-9a-f-]{36})`)
	s.until(ctx, t, firmwareTimeout, "the system on the disk says that it runs", func(context.Context) (bool, error) {
		m := marker.FindStringSubmatch(s.console())
		if m == nil || m[1] == before {
			return false, nil
		}
		boot = m[1]
		return true, nil
	})
	return boot
}

// console is the serial console of the server since it was powered on.
func (s *site) console() string { return s.read("machine-a", "serial.log") }

// hold stops the server by its power button, and finds it really gone.
func (s *site) hold(ctx context.Context, t *testing.T) {
	t.Helper()
	if n := s.qemus(t); n != 1 {
		t.Fatalf("%d QEMU processes before the hold, want 1", n)
	}
	out := s.rackctl(ctx, t, "hold", "server-a", "--key", "test", "--wait", "fenced", "--timeout", "2m", "-o", "json")
	s.logf(t, "held and fenced")
	if n := s.qemus(t); n != 0 {
		t.Errorf("%d QEMU processes run under the hold", n)
	}
	if !strings.Contains(s.console(), "rackboot-test: power button") {
		t.Error("the system was not stopped by its power button")
	}
	var h resource.Hold
	if err := json.Unmarshal([]byte(out), &h); err != nil {
		t.Fatal(err)
	}
	receipt := s.rackctl(ctx, t, "receipt", h.Metadata.Name, "-o", "json")
	var r resource.Receipt
	if err := json.Unmarshal([]byte(receipt), &r); err != nil {
		t.Fatal(err)
	}
	if r.Server != "server-a" || r.HoldID != h.Metadata.Name || !r.ConfirmedAt.After(r.StoppedSince) {
		t.Errorf("receipt %+v", r)
	}
}

// qemus is how many QEMU processes run in rack-a.
func (s *site) qemus(t *testing.T) int {
	t.Helper()
	ids, err := s.rackA.Processes()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, id := range ids {
		name, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(id), "comm"))
		if err == nil && strings.HasPrefix(string(name), "qemu-system") {
			n++
		}
	}
	return n
}

// check compares what a rack's server asked for with what it should have, and that
// the other rack's was not heard.
func (s *site) check(t *testing.T, capture, own, other string, want asked) {
	t.Helper()
	got := asks(t, capture)
	if got[own] == nil || *got[own] != want {
		t.Errorf("%s: %s asked for %+v, want %+v", filepath.Base(capture), own, got[own], want)
	}
	if got[other] != nil || len(got) != 1 {
		t.Errorf("%s: others asked too: %v", filepath.Base(capture), got)
	}
}

// checkApart shows that nothing of a rack's boot network left it, and that neither
// agent knows the other's server.
func (s *site) checkApart(ctx context.Context, t *testing.T, router string) {
	t.Helper()
	// While it is written to, its last packet may be a half one, which tcpdump refuses.
	s.stop(t, captureOf(s.router))
	out, err := s.output(ctx, s.hub, "tcpdump", "-n", "-r", router, "net "+bootNet+" or udp port 67 or udp port 68")
	if err != nil {
		t.Fatal(err)
	}
	if out != "" {
		t.Errorf("packets of a boot network at the router:\n%s", out)
	}
	for _, row := range []struct{ log, other, mac string }{
		{"agent-a.log", "server-b", macB},
		{"agent-b.log", "server-a", macA},
	} {
		text := s.read(row.log)
		if text == "" || strings.Contains(text, row.other) || strings.Contains(text, row.mac) {
			t.Errorf("%s is empty, or names %s", row.log, row.other)
		}
	}
}

// checkPulls reads in the registry's log that the hub alone asked for a tag, and
// that both agents dialled out and asked for a digest.
func (s *site) checkPulls(t *testing.T) {
	t.Helper()
	request := regexp.MustCompile(`(?m)^(\S+) - .*"GET /v2/os/manifests/(sha256:|\S+)`)
	asked := map[string]map[string]bool{}
	for _, m := range request.FindAllStringSubmatch(s.read("registry.out")+s.read("registry.log"), -1) {
		if asked[m[1]] == nil {
			asked[m[1]] = map[string]bool{}
		}
		asked[m[1]][m[2]] = true
	}
	for _, agent := range []string{uplinkA, uplinkB} {
		if got := asked[agent]; len(got) != 1 || !got["sha256:"] {
			t.Errorf("the agent at %s asked the registry for %v, want a digest", agent, got)
		}
	}
	if !asked[hubAddress]["1"] {
		t.Errorf("the hub asked the registry for %v, want the tag", asked[hubAddress])
	}
}
