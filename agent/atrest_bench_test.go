package agent

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/bmc/redfish"
	"rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/wire"
	"rackboot/state/badger"
	"rackboot/state/blob"
)

// benchBMCs has this program be the BMCs of BenchmarkAtRest, so that what they take is not counted.
const benchBMCs = "RACKBOOT_BENCH_BMCS"

func TestMain(m *testing.M) {
	if n, err := strconv.Atoi(os.Getenv(benchBMCs)); err == nil {
		if err := serveBMCs(n, os.Stdin, os.Stdout); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// served is a BMC of the other process.
type served struct{ Address, Fingerprint string }

// serveBMCs serves until in ends.
func serveBMCs(n int, in io.Reader, out io.Writer) error {
	behaves, _ := sim.Preset("DellStream")
	encoder := json.NewEncoder(out)
	for i := range n {
		b, err := sim.New(sim.Config{
			Machine: hardware.NewSimulated(hardware.SimulatedConfig{}), Personality: behaves, Username: "u", Password: "p", Seed: uint64(i),
		})
		if err != nil {
			return err
		}
		if err := encoder.Encode(served{b.Address(), b.Fingerprint()}); err != nil {
			return err
		}
	}
	_, err := io.Copy(io.Discard, in)
	return err
}

// BenchmarkAtRest is what one read of a server costs an agent of 16 that are at rest, from the
// timer to the report, and what each server costs in memory. The BMCs are another process.
func BenchmarkAtRest(b *testing.B) {
	const n, poll = 16, 200 * time.Millisecond
	bmcs := exec.Command(os.Args[0])
	bmcs.Env = append(os.Environ(), fmt.Sprintf("%s=%d", benchBMCs, n))
	end, err := bmcs.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	said, err := bmcs.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := bmcs.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _, _ = end.Close(), bmcs.Wait() })
	d := message.RackDoc{Head: protocol.Head{Version: 1}, Agent: "agent-1", Shards: 1, Rack: &message.RackIntent{Name: "rack-1", PollInterval: poll}}
	lines := bufio.NewScanner(said)
	for i := range n {
		var at served
		if !lines.Scan() || json.Unmarshal(lines.Bytes(), &at) != nil {
			b.Fatalf("BMC %d: %q %v", i, lines.Text(), lines.Err())
		}
		name := fmt.Sprintf("n%d", i)
		d.Servers = append(d.Servers, message.ServerIntent{
			Server: name, UID: "uid-" + name, BootMAC: fmt.Sprintf("52:54:00:00:00:%02x", i), Architecture: "amd64",
			BMC: message.BMCIntent{Name: name, Address: at.Address, CredentialsRef: "local:bmc", Fingerprint: at.Fingerprint},
		})
	}
	db, err := badger.Open(badger.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	blobs, err := blob.Open(blob.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	reg := prometheus.NewRegistry()
	dialer, err := redfish.New(redfish.Config{Registerer: reg})
	if err != nil {
		b.Fatal(err)
	}
	a, err := New(Config{
		Agent: "agent-1", Rack: "rack-1", DB: db, Blobs: blobs, Signer: wire.NewSigner(key), HubKeys: []ed25519.PublicKey{public},
		Credentials: simCredentials{}, Puller: noImages{}, Clock: time.Now, Random: rand.Reader, Logger: slog.New(slog.DiscardHandler),
		Registerer: reg, OpenBMC: dialer.Open,
	})
	if err != nil {
		b.Fatal(err)
	}
	before := inUse()
	ctx, cancel := context.WithCancel(context.Background())
	ended, ready := make(chan error, 1), make(chan struct{})
	go func() { ended <- a.Run(ctx, func() { close(ready) }) }()
	b.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
		_, _ = blobs.Close(), db.Close()
	})
	<-ready
	if err := (heard{a}).Rack(d, "rack/0", "1"); err != nil {
		b.Fatal(err)
	}
	for {
		servers, _ := a.reports.Snapshot()
		known := 0
		for _, r := range servers {
			if r.Identity != "" && r.Observation.Power == protocol.PowerOff {
				known++
			}
		}
		if known == n {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(3 * poll) // what comes after a board
	b.ResetTimer()
	was, from := processor(), reads(b, reg)
	var m, old runtime.MemStats
	runtime.ReadMemStats(&old)
	for reads(b, reg)-from < float64(b.N) {
		time.Sleep(time.Second)
	}
	took, did := processor()-was, reads(b, reg)-from
	runtime.ReadMemStats(&m)
	b.StopTimer()
	b.ReportMetric(float64(took.Microseconds())/did, "cpu-µs/read")
	b.ReportMetric(float64(m.TotalAlloc-old.TotalAlloc)/1024/did, "alloc-KiB/read")
	b.ReportMetric(float64(m.Mallocs-old.Mallocs)/did, "allocs/read")
	b.ReportMetric(float64(inUse()-before)/1024/n, "KiB/server")
	b.ReportMetric(float64(runtime.NumGoroutine())/n, "goroutines/server")
}

// inUse is heap and stacks after a collection.
func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// processor is the processor time of this process.
func processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// reads is how many reads of servers BMCs have answered.
func reads(b *testing.B, reg prometheus.Gatherer) (n float64) {
	b.Helper()
	families, err := reg.Gather()
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "rackboot_bmc_requests_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			if strings.Contains(m.String(), "observe") {
				n += m.GetCounter().GetValue()
			}
		}
	}
	return n
}
