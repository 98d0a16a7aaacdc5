package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rackboot/hub/api/apitest"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// shown is what one run of rackctl took.
type shown struct {
	first, whole time.Duration
	resident     int64 // bytes, the most
}

// rackctl runs a program and notes when its second line comes, the first with a server.
func rackctl(b *testing.B, program, config string, args ...string) (out shown) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), program, args...)
	cmd.Env = append(os.Environ(), "RACKCTL_CONFIG="+config)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	r := bufio.NewReaderSize(pipe, 64<<10)
	for range 2 {
		if _, err := r.ReadString('\n'); err != nil && !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
	}
	out.first = time.Since(begun)
	for chunk := make([]byte, 64<<10); err == nil; {
		out.resident = max(out.resident, highWater(cmd.Process.Pid))
		_, err = r.Read(chunk)
	}
	if waited := cmd.Wait(); waited != nil || !errors.Is(err, io.EOF) {
		b.Fatal(err, waited)
	}
	out.whole = time.Since(begun)
	return out
}

// highWater is the most that a process had resident, in bytes; 0 once it has ended. What its parent has is
// not counted, as it is in a Rusage.
func highWater(pid int) int64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(raw), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		return 0
	}
	return kib << 10
}

// reported is a status as long as that of a server that runs.
func reported() resource.ServerStatus {
	at := apitest.Now()
	return resource.ServerStatus{
		Phase: resource.PhaseReserved, Claim: "claim-of-a-server", AcceptedIdentity: "sha256:" + strings.Repeat("0f", 32), OS: "registry.example/os:1",
		Report: &resource.ServerReport{
			Observation: protocol.Observation{Power: protocol.PowerOn, ReadAt: at}, Power: protocol.PowerOn, PowerEpoch: 7, LastPoweredOn: &at,
			OwnerUID: strings.Repeat("u", 26), BootGeneration: 3, ArtefactsLocal: true, Identity: "sha256:" + strings.Repeat("0f", 32), Architecture: "amd64",
			Attempt:     &resource.AttemptReport{State: resource.AttemptSucceeded, Number: 1, URI: "http://10.7.0.1:8080/boot/" + strings.Repeat("t", 43), Since: at},
			Provisioned: []byte(strings.Repeat("signed", 100)),
		},
		Conditions: []resource.ConditionState{{Code: resource.CondHeld, Since: at, Message: strings.Repeat("by somebody ", 10)}},
	}
}

// BenchmarkGetServers shows 50,000 servers of 1,000 racks by a rackctl of its own process, which is built
// here, or RACKCTL.
func BenchmarkGetServers(b *testing.B) {
	const racks, each = 1000, 50
	h := apitest.New(b)
	put := func(obj resource.Object) {
		if err := h.Store.Objects.Put(b.Context(), obj); err != nil {
			b.Fatal(err)
		}
	}
	status := reported()
	for r := range racks {
		rack, segment := fmt.Sprintf("r%d", r), fmt.Sprintf("boot-%d", r)
		o := storetest.Rack(rack)
		o.Metadata.Labels = map[string]string{"row": fmt.Sprint(r % 20)}
		put(o)
		s := storetest.Segment(segment, rack)
		s.Spec.Prefix = fmt.Sprintf("10.%d.%d.0/24", r>>8, r&255)
		s.Spec.Address = fmt.Sprintf("10.%d.%d.1", r>>8, r&255)
		s.Spec.Pool = resource.Pool{From: fmt.Sprintf("10.%d.%d.100", r>>8, r&255), To: fmt.Sprintf("10.%d.%d.200", r>>8, r&255)}
		put(s)
		for n := range each {
			name := fmt.Sprintf("r%d-n%d", r, n)
			put(storetest.BMC(name, rack))
			put(storetest.Server(name, name, segment, fmt.Sprintf("52:54:00:%02x:%02x:%02x", r>>8, r&255, n)))
			h.Fleet.SetServer(name, status)
		}
	}
	program := os.Getenv("RACKCTL")
	if program == "" {
		program = filepath.Join(b.TempDir(), "rackctl")
		if out, err := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, ".").CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
	config := filepath.Join(b.TempDir(), "config.yaml")
	raw := fmt.Sprintf("current: a\ncontexts:\n- name: a\n  url: %s\n  token: %s\n  ca: %q\n", h.URL, apitest.Token, h.CA)
	if err := os.WriteFile(config, []byte(raw), 0o600); err != nil {
		b.Fatal(err)
	}
	for _, args := range []string{"get servers", "get servers -o wide", "get servers -o json", "get servers -o yaml", "get servers -o name", "get servers -l row=7", "get servers --field-selector status.phase=Available", "get servers --sort-by .metadata.name", "get bmcs"} {
		b.Run(args, func(b *testing.B) {
			var all shown
			for b.Loop() {
				got := rackctl(b, program, config, strings.Fields(args)...)
				all.first, all.whole, all.resident = all.first+got.first, all.whole+got.whole, max(all.resident, got.resident)
			}
			n := time.Duration(b.N)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64((all.first / n).Milliseconds()), "ms-to-first")
			b.ReportMetric(float64((all.whole / n).Milliseconds()), "ms-whole")
			b.ReportMetric(float64(all.resident)/(1<<20), "MiB-resident")
		})
	}
}
