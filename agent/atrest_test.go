package agent

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/wire"
	"rackboot/state/blob"
	"rackboot/state/statetest"
)

// simCredentials are those of all simulated BMCs.
type simCredentials struct{}

func (simCredentials) Read(string) (bmc.Credentials, string, error) {
	return bmc.Credentials{Username: "u", Password: "p"}, "", nil
}

// TestGoroutinesAtRest: a server costs its loop, and what reads the events of its BMC. net/http
// has two of its own for each connection.
func TestGoroutinesAtRest(t *testing.T) {
	const most = 2 // per server
	for _, personality := range []string{"DellStream", "NoStream"} {
		t.Run(personality, func(t *testing.T) {
			const n = 8
			readAll(t, personality, n)
			late := time.Now().Add(time.Minute)
			for {
				ours := perServer()
				if len(ours) <= most*n {
					break
				}
				if time.Now().After(late) {
					t.Fatalf("%d goroutines for %d servers:\n%s", len(ours), n, strings.Join(ours, "\n\n"))
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
}

// readAll runs an agent until it has read n servers and their boards.
func readAll(t *testing.T, personality string, n int) {
	t.Helper()
	behaves, ok := sim.Preset(personality)
	if !ok {
		t.Fatalf("there is no preset %s", personality)
	}
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	dialer, err := redfish.New(redfish.Config{})
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := blob.Open(blob.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(Config{
		Agent: "agent-1", Rack: "rack-1", DB: statetest.NewMemory(), Blobs: blobs, Signer: wire.NewSigner(key), HubKeys: []ed25519.PublicKey{public},
		Credentials: simCredentials{}, Puller: noImages{}, Clock: time.Now, Random: rand.Reader, Logger: slog.New(slog.DiscardHandler),
		Registerer: prometheus.NewRegistry(), OpenBMC: dialer.Open,
	})
	if err != nil {
		t.Fatal(err)
	}
	d := message.RackDoc{Head: protocol.Head{Version: 1}, Agent: "agent-1", Shards: 1, Rack: &message.RackIntent{Name: "rack-1", PollInterval: time.Second}}
	for i := range n {
		b, err := sim.New(sim.Config{
			Machine: hardware.NewSimulated(hardware.SimulatedConfig{}), Personality: behaves, Username: "u", Password: "p", Seed: uint64(i),
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close() })
		name := fmt.Sprintf("n%d", i)
		d.Servers = append(d.Servers, message.ServerIntent{
			Server: name, UID: "uid-" + name, BootMAC: fmt.Sprintf("52:54:00:00:00:%02x", i), Architecture: "amd64",
			BMC: message.BMCIntent{Name: name, Address: b.Address(), CredentialsRef: "local:bmc", Fingerprint: b.Fingerprint()},
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	ready := make(chan struct{})
	go func() { ended <- a.Run(ctx, func() { close(ready) }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		_ = blobs.Close()
	})
	<-ready
	if err := (heard{a}).Rack(d, "rack/0", "1"); err != nil {
		t.Fatal(err)
	}
	known := func() (count int) {
		servers, _ := a.reports.Snapshot()
		for _, r := range servers {
			if r.Identity != "" && r.Observation.Power == protocol.PowerOff {
				count++
			}
		}
		return count
	}
	for late := time.Now().Add(time.Minute); known() < n; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("%d of %d servers were read with their boards", known(), n)
		}
	}
}

// perServer returns the stacks of the goroutines that servers cost: those of their loops, of
// event streams and of the driver, but for what net/http does below it.
func perServer() (stacks []string) {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	for stack := range strings.SplitSeq(string(buf), "\n\n") {
		calls, creator, _ := strings.Cut(stack, "\ncreated by ")
		if strings.HasPrefix(creator, "net/http.") {
			continue
		}
		for _, room := range []string{"rackboot/agent/server.", "rackboot/agent/stream.", "rackboot/bmc/redfish."} {
			if strings.Contains(calls, "\n"+room) || strings.HasPrefix(creator, room) {
				stacks = append(stacks, stack)
				break
			}
		}
	}
	return stacks
}
