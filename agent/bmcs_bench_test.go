package agent

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/files"
	"rackboot/bmc/redfish"
	"rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/wire"
	"rackboot/state/badger"
	"rackboot/state/blob"
)

// benchBMCs has this program be the BMCs of a benchmark, so that what they take is not counted.
const benchBMCs = "RACKBOOT_BENCH_BMCS"

func TestMain(m *testing.M) {
	if count, preset, is := strings.Cut(os.Getenv(benchBMCs), " "); is {
		if err := serveBMCs(count, preset, os.Stdin, os.Stdout); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// simulated is what the process of the BMCs says: where one is, or that its machine was switched on.
type simulated struct {
	N                    int
	Address, Fingerprint string
	On                   time.Time
}

// benchPost is longer than any benchmark: who is switched on stays in POST, and takes nothing.
const benchPost = time.Hour

// serveBMCs serves until in ends.
func serveBMCs(count, preset string, in io.Reader, out io.Writer) error {
	n, err := strconv.Atoi(count)
	behaves, known := sim.Preset(preset)
	if err != nil || !known {
		return fmt.Errorf("%s BMCs of preset %q: there is none, or %w", count, preset, err)
	}
	var mu sync.Mutex
	encoder := json.NewEncoder(out)
	say := func(s simulated) error {
		mu.Lock()
		defer mu.Unlock()
		return encoder.Encode(s)
	}
	for i := range n {
		changed := func(to hardware.State) {
			if to == hardware.Post {
				_ = say(simulated{N: i, On: time.Now()}) // nobody listens any more
			}
		}
		b, err := sim.New(sim.Config{
			Machine:     hardware.NewSimulated(hardware.SimulatedConfig{Post: benchPost, Changed: changed}),
			Personality: behaves, Username: "u", Password: "p", Seed: uint64(i),
		})
		if err != nil {
			return err
		}
		if err := say(simulated{N: i, Address: b.Address(), Fingerprint: b.Fingerprint()}); err != nil {
			return err
		}
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

// benchRack is an agent of n servers at rest, whose BMCs are another process, and its hub.
type benchRack struct {
	b        *testing.B
	agent    *Agent
	reg      *prometheus.Registry
	hub      *wire.Signer
	key      *wire.Verifier // the agent's
	said     *json.Decoder
	process  int
	inUse    int64 // of memory, before the agent ran
	servers  []message.ServerIntent
	poll     time.Duration
	inrush   *message.InrushIntent
	version  uint64
	receive  sync.Mutex // an agent receives one message at a time
	answered sync.WaitGroup

	mu      sync.Mutex
	heads   map[string]protocol.Head
	digests map[string]string
}

func newBenchRack(b *testing.B, n int, preset string, poll time.Duration, images func(*blob.Store) files.Puller) *benchRack {
	b.Helper()
	bmcs := exec.Command(os.Args[0])
	bmcs.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", benchBMCs, n, preset))
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
	r := &benchRack{b: b, reg: prometheus.NewRegistry(), said: json.NewDecoder(said), process: bmcs.Process.Pid, poll: poll, heads: map[string]protocol.Head{}, digests: map[string]string{}}
	for i := range n {
		var at simulated
		if err := r.said.Decode(&at); err != nil {
			b.Fatalf("BMC %d: %v", i, err)
		}
		name := fmt.Sprintf("n%03d", i)
		r.servers = append(r.servers, message.ServerIntent{
			Server: name, UID: "uid-" + name, BootMAC: fmt.Sprintf("52:54:00:00:%02x:%02x", i>>8, i&255), Architecture: "amd64",
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
	_, hub, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	r.hub, r.key = wire.NewSigner(hub), wire.NewVerifier(wire.NewSigner(key).Public())
	dialer, err := redfish.New(redfish.Config{Registerer: r.reg})
	if err != nil {
		b.Fatal(err)
	}
	r.agent, err = New(Config{
		Agent: "agent-1", Rack: "rack-1", DB: db, Blobs: blobs, Signer: wire.NewSigner(key), HubKeys: []ed25519.PublicKey{r.hub.Public()},
		Credentials: simCredentials{}, Puller: images(blobs), Clock: time.Now, Random: rand.Reader, Logger: slog.New(slog.DiscardHandler),
		Registerer: r.reg, OpenBMC: dialer.Open,
	})
	if err != nil {
		b.Fatal(err)
	}
	r.inUse = inUse()
	ctx, cancel := context.WithCancel(context.Background())
	ended, ready := make(chan error, 1), make(chan struct{})
	go func() { ended <- r.agent.Run(ctx, func() { close(ready) }) }()
	b.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
		r.answered.Wait()
		_, _ = blobs.Close(), db.Close()
	})
	<-ready
	r.send()
	r.agent.Connected(r)
	return r
}

// send gives the agent the documents of the rack as it stands, one after the other.
func (r *benchRack) send() {
	r.b.Helper()
	for _, d := range r.sealed() {
		r.give(d.topic, d.raw)
	}
}

// document is one that the hub has signed.
type document struct {
	topic string
	raw   []byte
}

// sealed signs the documents of the rack as it stands.
func (r *benchRack) sealed() (all []document) {
	r.b.Helper()
	r.version++
	shards := (len(r.servers) + message.MaxServersPerShard - 1) / message.MaxServersPerShard
	for i := range shards {
		d := message.RackDoc{
			Head: protocol.Head{Epoch: 1, Version: r.version}, Agent: "agent-1", Term: 1, IssuedAt: time.Now(), Shard: i, Shards: shards,
			Servers: r.servers[i*message.MaxServersPerShard : min(len(r.servers), (i+1)*message.MaxServersPerShard)],
		}
		if i == 0 {
			d.Rack = &message.RackIntent{Name: "rack-1", PollInterval: r.poll, Inrush: r.inrush}
		}
		leaf := fmt.Sprintf("%s/%d", message.LeafRack, i)
		topic := message.TopicDown("agent-1", leaf)
		raw, err := wire.Seal(r.hub, topic, d)
		if err != nil {
			r.b.Fatal(err)
		}
		r.mu.Lock()
		r.heads[leaf], r.digests[leaf] = d.Head, wire.Digest(raw)
		r.mu.Unlock()
		all = append(all, document{topic, raw})
	}
	return all
}

func (r *benchRack) give(topic string, raw []byte) {
	r.receive.Lock()
	defer r.receive.Unlock()
	r.agent.Receive(topic, raw)
}

// Publish implements link.Transport: a Hello is answered, and the rest is taken.
func (r *benchRack) Publish(topic string, payload []byte) error {
	var m message.Hello
	if topic != message.TopicUp("agent-1", message.LeafHello) || wire.Open(r.key, topic, payload, &m) != nil {
		return nil
	}
	r.mu.Lock()
	heads, digests := maps.Clone(r.heads), maps.Clone(r.digests)
	r.mu.Unlock()
	down := message.TopicDown("agent-1", message.LeafSync)
	raw, err := wire.Seal(r.hub, down, message.Sync{
		Session: m.Session, Protocol: protocol.Version, At: time.Now(), Epoch: 1, Nonce: "nonce of " + m.Session, ValidFor: message.SyncValid,
		Heads: heads, Digests: digests,
	})
	if err != nil {
		return err
	}
	r.answered.Go(func() { r.give(down, raw) })
	return nil
}

// known waits until the board of each server was read.
func (r *benchRack) known() {
	r.b.Helper()
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(100 * time.Millisecond) { // between looks
		servers, _ := r.agent.reports.Snapshot()
		n := 0
		for _, s := range servers {
			if s.Identity != "" && s.Observation.Power == protocol.PowerOff {
				n++
			}
		}
		if n == len(r.servers) {
			return
		}
		if time.Now().After(end) {
			r.b.Fatalf("%d of %d servers are known", n, len(r.servers))
		}
	}
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

// calls is how many calls of BMCs have ended, of an operation; of all if that is empty.
func (r *benchRack) calls(op string) (n float64) {
	r.b.Helper()
	families, err := r.reg.Gather()
	if err != nil {
		r.b.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "rackboot_bmc_requests_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			if strings.Contains(m.String(), op) {
				n += m.GetCounter().GetValue()
			}
		}
	}
	return n
}
