//go:build !race

// The race detector has the other tests; this one takes a minute without it.

package rack

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rackboot/agent"
	"rackboot/bmc"
	bmcsim "rackboot/bmc/sim"
	"rackboot/integration/parallel"
	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
	"rackboot/state/statetest"
)

// packet is a signed document on its way down.
type packet struct {
	Topic   string
	Payload []byte
}

// stage is a state of the hub's documents, and what the server comes to under it.
type stage struct {
	Name     string // also the acknowledgement when it was reached
	Messages []packet
	Until    string
	Held     bool
	Rolled   bool   // the hub sees an old copy first
	Silent   bool   // the hub says nothing but the documents
	Host     string // of boot URLs in the end, if one is named
	Local    []localOrder
}

// script is what a child is given: its agent, and the documents to deliver.
type script struct {
	Setup  setup
	HubKey ed25519.PrivateKey
	Stages []stage
}

const scriptFile = "script.json"

// ends are the conditions that end a stage. Those of the agent itself are with those
// of its server.
func ends() map[string]func(resource.ServerReport) bool {
	return map[string]func(resource.ServerReport) bool{
		"rolled back": has(resource.CondSegmentRolledBack),
		"confirmed": func(r resource.ServerReport) bool {
			return r.Server != "" && !has(resource.CondSegmentOnTrial)(r) && !has(resource.CondSegmentRolledBack)(r)
		},
		"booted": func(r resource.ServerReport) bool { return len(r.Holds) == 0 && diskBoot(r) },
		"fenced": fenced,
		"let go": func(r resource.ServerReport) bool { return r.Released },
		"freed":  func(r resource.ServerReport) bool { return len(lying(r)) == 0 && diskBoot(r) },
		"ordered": func(r resource.ServerReport) bool {
			return r.Attempt != nil && r.Attempt.State == resource.AttemptPowerRequested
		},
	}
}

// mailbox keeps the newest report that an agent publishes, and answers its Hello.
type mailbox struct {
	key   ed25519.PublicKey
	hub   *hub
	agent *agent.Agent
	mu    sync.Mutex
	raw   []byte
}

// Publish implements link.Transport.
func (m *mailbox) Publish(topic string, payload []byte) error {
	if strings.HasSuffix(topic, "/"+message.LeafReport) {
		m.mu.Lock()
		m.raw = payload
		m.mu.Unlock()
	}
	m.hub.hear(m.agent, topic, payload)
	return nil
}

func (m *mailbox) report() (r resource.ServerReport) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var rep message.Report
	if m.raw != nil && wire.Open(wire.NewVerifier(m.key), message.TopicUp(agentID, message.LeafReport), m.raw, &rep) == nil && len(rep.Servers) > 0 {
		r = rep.Servers[0]
		r.Conditions = append(r.Conditions, rep.Conditions...)
	}
	return r
}

// playScript is the child: an agent that is given the documents of each stage in
// turn. It acknowledges each stage's documents when they were taken, and its end.
func playScript(run statetest.Run) {
	raw, err := os.ReadFile(filepath.Join(run.Dir, scriptFile))
	must(err)
	var s script
	must(json.Unmarshal(raw, &s))
	s.Setup.log = slog.New(slog.DiscardHandler)
	s.Setup.crash, s.Setup.calls, s.Setup.credentials = run.Crash, &calls{}, &credentials{}
	s.Setup.credentials.set(bmc.Credentials{Username: "admin", Password: "secret"}, nil)
	p, err := startAgent(s.Setup)
	must(err)
	up := &mailbox{key: wire.NewSigner(s.Setup.Key).Public(), agent: p.agent}
	up.hub = newHub(wire.NewSigner(s.HubKey), wire.NewVerifier(up.key))
	p.agent.Connected(up)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for _, st := range s.Stages {
		up.hub.mute(st.Silent)
		if st.Rolled {
			up.hub.roll(p.agent, up)
		}
		for _, m := range st.Messages {
			up.hub.give(p.agent, m.Topic, m.Payload)
		}
		must(carryOut(ctx, s.Setup.Socket, st.Local))
		run.Ack("taken " + st.Name)
		for !ends()[st.Until](up.report()) {
			must(ctx.Err())
			time.Sleep(time.Millisecond) // between looks at a condition with a deadline
		}
		run.Ack("reached " + st.Name)
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// crashBench is a bench whose agent is killed; BMC, firmware and registry live on.
type crashBench struct {
	*bench
	stages   []stage
	patience time.Duration // how long a first boot may stand still before a person cuts power
}

// stage seals the documents as they stand, with short times.
func (b *crashBench) stage(name, until string) {
	b.version++
	head := protocol.Head{Epoch: 1, Version: b.version}
	rack := message.RackDoc{Head: head, Agent: agentID, Term: 1, IssuedAt: time.Now(), Shards: 1, Servers: slices.Clone(b.intents), Rack: &message.RackIntent{
		Name: "rack-a", SoftTimeout: time.Second, SettleWindow: 100 * time.Millisecond, PollInterval: 50 * time.Millisecond,
		Segments: []resource.SegmentIntent{b.segment()}, AgentKeys: [][]byte{wire.NewSigner(b.key).Public()},
	}}
	st := stage{Name: name, Until: until, Held: len(b.holds) > 0}
	for leaf, doc := range map[string]any{
		message.LeafHold:        message.HoldDoc{Head: head, Agent: agentID, Term: 1, IssuedAt: time.Now(), Holds: b.holds, Releases: b.frees, Approvals: b.approvals},
		message.LeafRack + "/0": rack,
	} {
		topic := message.TopicDown(agentID, leaf)
		raw, err := wire.Seal(b.hub, topic, doc)
		if err != nil {
			b.t.Fatal(err)
		}
		st.Messages = append(st.Messages, packet{topic, raw})
	}
	slices.SortFunc(st.Messages, func(x, y packet) int { return strings.Compare(x.Topic, y.Topic) }) // holds first
	b.stages = append(b.stages, st)
}

func (b *crashBench) held(id string, mode resource.StopMode) {
	b.holds = []resource.ActiveHold{{ID: id, HoldSpec: resource.HoldSpec{Server: b.servers[0].Name, Owner: "o", HoldTerms: resource.HoldTerms{Key: id, Mode: mode}}}}
}

func (b *crashBench) freed() {
	for _, h := range b.holds {
		b.frees = append(b.frees, resource.Release{HoldID: h.ID, Server: h.Server, By: "o", At: time.Now()})
	}
	b.holds = nil
}

func newCrashBench(t *testing.T, flow crashFlow) (*crashBench, string) {
	t.Helper()
	dir := t.TempDir()
	personality := twoDrives()
	if flow.bmc != "" {
		personality = presetOf(t, flow.bmc)
	}
	b := &crashBench{patience: patience}
	b.bench = newBenchOf(t, filepath.Join(dir, "agent"), 1, personality, func(c *sim.ServerConfig) {
		c.UserData = true
		if flow.patient {
			c.Speed, b.patience = speed/4, 40*time.Second
		}
	})
	b.socket = socketPath(t)
	flow.run(b)
	raw, err := json.Marshal(script{
		Setup:  setup{Dir: b.dir, Key: b.key, Hub: b.hub.Public(), DHCP: b.dhcp, HTTP: b.http, TFTP: b.tftp, Socket: b.socket, Trial: b.trial, Destructive: b.destructive, UserData: b.data.bodies, Uploaded: b.uploaded, TrustedMedia: b.trusted, Collector: b.spansTo},
		HubKey: b.hubKey, Stages: b.stages,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, scriptFile), raw, 0o600), os.Mkdir(b.dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	return b, dir
}

// sample says which passages of a point are tried, out of n. A decision that
// nothing came of is passed with each look at the BMC; few of those differ.
func sample(point string, n int) (passages []int) {
	for i := 1; i <= n; i++ {
		if point != "agent.step.decide" || i <= 3 || i%15 == 0 {
			passages = append(passages, i)
		}
	}
	return passages
}

// TestCrash kills the agent at every crash point of its flows. What is left is
// started again, the documents are delivered again, and the way is gone to its end:
// installed at most once, never on under a hold, with a receipt, and from disk after
// the release (P1 to P4, P9). Where time is dear each point is tried once, at its first passage in one of
// the flows that try it.
func TestCrash(t *testing.T) {
	t.Parallel()
	child := statetest.NewChild(t, playScript)
	var passed, tried sync.Map // the points
	t.Run("flows", func(t *testing.T) {
		for name, flow := range crashFlows() {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				for point, times := range passages(t, child, flow) {
					passed.Store(point, true)
					if !strings.HasPrefix(point, flow.at) {
						continue
					}
					if _, again := tried.LoadOrStore(point, true); parallel.Short() {
						if again {
							continue
						}
						times = 1
					}
					for _, n := range sample(point, times) {
						t.Run(fmt.Sprintf("%s#%d", point, n), func(t *testing.T) {
							t.Parallel()
							crash(t, child, flow, point, n)
						})
					}
				}
			})
		}
	})
	for _, point := range crashPoints(t) {
		if _, ok := passed.Load(point); !ok {
			t.Errorf("crash point %s is never passed", point)
		}
	}
}

// passages are how often a flow passes each point that it passes.
func passages(t *testing.T, child statetest.Child, flow crashFlow) map[string]int {
	t.Helper()
	b, dir := newCrashBench(t, flow)
	whole := child.KillAt(t, dir, "none", 1, nil)
	if !whole.Done {
		t.Fatal("the flow did not end")
	}
	times := map[string]int{}
	for _, p := range whole.Points {
		times[p]++
	}
	t.Logf("%d passages of %d points; resets %v", len(whole.Points), len(times), b.resets(0))
	return times
}

// crash kills one agent and finishes what it began.
func crash(t *testing.T, child statetest.Child, flow crashFlow, point string, n int) {
	b, dir := newCrashBench(t, flow)
	var held time.Time // when the hold that lies was taken
	death := child.KillAt(t, dir, point, n, func(ack string) {
		if i := slices.IndexFunc(b.stages, func(s stage) bool { return "taken "+s.Name == ack }); i >= 0 {
			held = time.Time{}
			if b.stages[i].Held {
				held = time.Now()
			}
		}
	})
	from := 0
	for _, st := range b.stages {
		if slices.Contains(death.Acked, "reached "+st.Name) {
			from++
		}
	}
	for _, m := range b.stages[min(from, len(b.stages)-1)].Messages {
		b.link.note(m.Topic, m.Payload)
	}
	b.link.mute(b.stages[min(from, len(b.stages)-1)].Silent)
	a, _ := b.start(nil)
	spent := false
	// A flow that had ended stays where it was.
	for _, st := range b.stages[min(from, len(b.stages)-1):] {
		if !st.Held {
			b.noOn(held)
			held = time.Time{}
		}
		b.link.mute(st.Silent)
		for _, m := range st.Messages {
			b.link.give(a, m.Topic, m.Payload)
		}
		if err := carryOut(t.Context(), b.socket, st.Local); err != nil {
			t.Fatal(err)
		}
		if st.Held && held.IsZero() {
			held = time.Now()
		}
		if !b.reach(st) {
			t.Logf("after %v the grant is spent: %+v", death.Acked, b.servers[0].BMC.History())
			spent = true
			break
		}
		if hosts := a.BootHosts(); st.Host != "" && !slices.Equal(hosts, []string{st.Host}) {
			t.Errorf("after %s the boot host is %v, not %s", st.Name, hosts, st.Host)
		}
	}
	b.noOn(held)
	if _, data := b.servers[0].Boots.UserData(); len(data) > 0 && string(data) != string(content()) {
		t.Errorf("the server was given %q", data)
	}
	for digest := range b.data.bodies {
		if spent {
			break // the claim has not ended
		}
		b.eventually("the end of the user data", func() bool { return !b.onDisk(strings.TrimPrefix(digest, "sha256:")) })
	}
	if !spent {
		b.eventually("a BMC without a URL", func() bool { return b.servers[0].BMC.Hosts()[0].BootURI() == "" })
	}
	if network, _, _, installs := b.servers[0].Boots.Counts(); network > 1 || installs > 1 {
		t.Errorf("%d network boots, %d installations", network, installs)
	}
	if o := b.servers[0].BMC.Override(); !held.IsZero() && o.Armed() {
		t.Errorf("a held server keeps its override %+v", o)
	}
}

// patience is how long a first boot may stand still before a person cuts power, of a flow that is not patient:
// as it was reported, and as the machine itself was seen. A report may be old.
const patience = 2 * time.Second

// reach waits for the end of a stage. Where firmware found nobody while the agent
// was dead, a person cuts the power; a boot file that may have been fetched spends
// the grant then, which ends the way.
func (b *crashBench) reach(st stage) bool {
	b.t.Helper()
	spent := false
	var on time.Time
	epoch, waited := uint64(0), false
	b.within(eventual, "the end of "+st.Name, func() bool {
		r, _ := b.report(0)
		if st.Held && !waited && r.Observation.Power == protocol.PowerOff {
			b.ahead.Add(int64(onWait))
			waited = true
		}
		m, _ := b.newest()
		r.Conditions = append(r.Conditions, m.Conditions...)
		if spent = has(resource.CondGrantSpent)(r) && r.Provisioned == nil; spent {
			return true
		}
		switch {
		case r.Observation.Power != protocol.PowerOn || r.Provisioned != nil || r.PowerEpoch != epoch:
			on, epoch = time.Now(), r.PowerEpoch
		case time.Since(on) > b.patience && b.still(b.patience):
			on = time.Now()
			if err := errors.Join(b.servers[0].BMC.PullPower(), b.servers[0].BMC.RestorePower()); err != nil {
				b.t.Fatal(err)
			}
		}
		return ends()[st.Until](r)
	})
	return !spent
}

// still reports whether the machine has done nothing for a while.
func (b *crashBench) still(d time.Duration) bool {
	done := b.servers[0].BMC.History()
	return len(done) == 0 || time.Since(done[len(done)-1].At) > d
}

// noOn checks that we powered nothing on since a hold was taken; zero is none.
func (b *crashBench) noOn(held time.Time) {
	b.t.Helper()
	for _, h := range b.servers[0].BMC.History() {
		if !held.IsZero() && h.What == bmcsim.RecordReset && h.Detail == "On" && h.At.After(held) {
			b.t.Errorf("powered on at %v under a hold taken at %v", h.At, held)
		}
	}
}

var crashCall = regexp.MustCompile(`rash\.At\("([^"]+)"`)

// crashPoints are the agent's, from its source, so that none can be forgotten.
func crashPoints(t *testing.T) (points []string) {
	t.Helper()
	for _, glob := range []string{"../../agent/*.go", "../../agent/store/*.go"} {
		files, err := filepath.Glob(glob)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files, %v", glob, err)
		}
		for _, f := range files {
			src, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range crashCall.FindAllSubmatch(src, -1) {
				name := string(m[1])
				if strings.HasPrefix(name, "agent.account.") || strings.HasPrefix(name, "agent.aside.") {
					continue // TestAccountKilled dies there, and TestKilledWhileAside of agent/link
				}
				if !strings.HasSuffix(name, ".") {
					points = append(points, name)
					continue
				}
				for _, k := range []decide.ActionKind{decide.ActArm, decide.ActDisarm, decide.ActOn, decide.ActGraceful, decide.ActForceOff, decide.ActInsert, decide.ActEject, decide.ActClearURL} {
					points = append(points, name+string(k))
				}
			}
		}
	}
	if len(points) == 0 {
		t.Fatal("no crash points found")
	}
	return points
}
