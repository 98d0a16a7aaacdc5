package upgrades

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/agentpackage"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// fate is what becomes of an order at an agent.
type fate string

const (
	well    fate = "well"
	refused fate = "refused" // its file has another key
	back    fate = "back"    // the new program does not reach the hub
	silent  fate = "silent"  // and neither does the old one
	lost    fate = "lost"    // the agent is not heard from the moment on at which it took the order
)

// sim is an agent as it is: what it runs, and how far it is with the last order that it took.
type sim struct {
	name    string
	able    bool
	cut     bool // from the hub
	runs    string
	before  string
	order   string
	stage   message.UpgradeStage
	code    message.UpgradeCode
	program string // of the order
	took    map[string]bool
	busy    int // steps that it waits with an order
	said    message.Report
	saidAt  time.Time
}

// walk is a hub with racks, its agents and everybody else.
type walk struct {
	t      *testing.T
	rng    *rand.Rand
	mem    *storetest.Memory
	store  *store.Store
	room   *Room
	now    time.Time
	agents map[string]*sim
	crash  float64
	point  string          // where it dies once, whatever crash is
	gone   bool            // the programs of packages are not here
	fates  map[string]fate // by program; well if it is not there
	known  map[string]resource.AgentOrder
	mute   map[string]bool // upgrades by which nobody is to be given a release any more
	most   int             // racks that may be ordered at once; 0 is not looked at
}

const oldProgram = "sha256:0000000000000000000000000000000000000000000000000000000000000000"

func program(n int) string { return fmt.Sprintf("sha256:%064d", n) }

func newWalk(t *testing.T, seed uint64, racks int) *walk {
	t.Helper()
	w := &walk{
		t: t, rng: rand.New(rand.NewPCG(seed, 1)), mem: storetest.NewMemory(), now: time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC),
		agents: map[string]*sim{}, fates: map[string]fate{}, known: map[string]resource.AgentOrder{}, mute: map[string]bool{},
	}
	w.open()
	for i := range racks {
		r := storetest.Rack(fmt.Sprintf("r%02d", i))
		r.Metadata.Labels = map[string]string{"row": fmt.Sprint(i % 2)}
		w.put(r)
		r = store.Copy(w.store.Objects, r)
		r.Status.Agent = w.agent(r.Metadata.Name, "a")
		if i%2 == 0 {
			r.Status.Standby = w.agent(r.Metadata.Name, "s")
		}
		w.put(r)
	}
	w.upload(0, oldProgram)
	w.upload(1, program(1))
	w.upload(2, program(2))
	return w
}

func (w *walk) put(o resource.Object) {
	w.t.Helper()
	if err := w.store.Objects.Put(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

// agent makes an agent of a rack.
func (w *walk) agent(rack, suffix string) string {
	a := &resource.Agent{}
	a.Metadata.Name = rack + "-" + suffix
	a.Spec.RackRef.Name = rack
	a.Spec.Key = ed25519.NewKeyFromSeed([]byte(fmt.Sprintf("%-32s", a.Metadata.Name))).Public().(ed25519.PublicKey)
	a.Default()
	w.put(a)
	w.agents[a.Metadata.Name] = &sim{name: a.Metadata.Name, able: true, runs: oldProgram, took: map[string]bool{}}
	return a.Metadata.Name
}

func digestOf(n int) string { return fmt.Sprintf("sha256:%063d%d", 0, n+1) }

// upload stores a package with one program.
func (w *walk) upload(n int, program string) {
	w.t.Helper()
	signed, err := agentpackage.Sign(agentpackage.Manifest{
		Version: fmt.Sprintf("0.%d.0", n+1), Protocol: protocol.Version, MadeAt: w.now,
		Binaries: []agentpackage.Binary{{Architecture: "amd64", SHA256: program, Size: 1}},
	}, ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.store.AgentPackages.Put(w.t.Context(), &store.AgentPackage{Digest: digestOf(n), Manifest: signed, UploadedAt: w.now}); err != nil {
		w.t.Fatal(err)
	}
}

// died is what a crash panics with.
type died string

// open starts a hub on what is stored.
func (w *walk) open() {
	w.t.Helper()
	st, err := store.Open(w.t.Context(), store.Config{KV: w.mem, Log: w.mem, Clock: w.clock, NewID: func() string { return fmt.Sprintf("%x", w.rng.Uint64()) }})
	if err != nil {
		w.t.Fatal(err)
	}
	w.store = st
	w.room = New(Config{
		Objects: st.Objects, Packages: st.AgentPackages, Ledgers: w, Reports: w, Files: w, Events: w, Clock: w.clock,
		Logger: slog.New(slog.DiscardHandler), Crash: func(point string) {
			if point == w.point {
				w.point = ""
				panic(died(point))
			}
			if w.rng.Float64() < w.crash {
				panic(died(point))
			}
		},
	})
}

func (w *walk) clock() time.Time { return w.now }

// Peek implements Ledgers.
func (w *walk) Peek(agent string) (*store.Ledger, error) {
	l := &store.Ledger{Agent: agent, Peer: store.Peer{Version: "0.1.0"}}
	if w.agents[agent].able {
		l.Peer.Capabilities = []message.Capability{message.CapUpgrade}
	}
	return l, nil
}

// Agent implements Reports.
func (w *walk) Agent(name string) (message.Report, time.Time, bool) {
	a := w.agents[name]
	return a.said, a.saidAt, !a.saidAt.IsZero()
}

// Has implements Files.
func (w *walk) Has(string) bool { return !w.gone }

// OwnOf implements Events.
func (w *walk) OwnOf(context.Context, resource.Target, string, resource.EventCode, string) {}

// turn has the hub take one, which may kill it.
func (w *walk) turn() {
	w.t.Helper()
	defer func() {
		if r := recover(); r != nil {
			if _, ours := r.(died); !ours {
				panic(r)
			}
			w.open()
		}
	}()
	if err := w.room.Turn(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// step lets time pass, has the agents do what they do, and the hub take a turn.
func (w *walk) step(pause time.Duration) {
	w.t.Helper()
	w.now = w.now.Add(pause)
	for _, name := range slices.Sorted(maps.Keys(w.agents)) {
		w.agents[name].step(w)
	}
	w.turn()
	w.look()
}

// step is an agent's: it takes its order if it hears of it, goes on with the one that it has, and reports.
func (a *sim) step(w *walk) {
	if o := w.stored(a.name).Status.Order; o.Open() && a.able && !a.cut && !a.took[o.ID] {
		if !a.ended() {
			w.t.Errorf("%s is ordered %s while it is at %s of %s", a.name, o.ID, a.stage, a.order)
		}
		a.took[o.ID], a.order, a.stage, a.code, a.before = true, o.ID, message.UpgradeFetching, "", a.runs
		a.program = w.program(o)
		if w.now.After(o.NotAfter) {
			a.stage, a.code = message.UpgradeRefused, message.UpgradeLate
		}
		a.busy = w.rng.IntN(3)
		a.cut = w.fates[a.program] == lost
	} else if !a.ended() {
		a.on(w)
	}
	if !a.cut && (a.stage != message.UpgradeTrial || w.fates[a.runs] == "" || w.fates[a.runs] == well) {
		a.said = message.Report{Upgrade: &message.UpgradeReport{Order: a.order, Stage: a.stage, Code: a.code, Running: a.runs}}
		a.saidAt = w.now
	}
}

func (a *sim) ended() bool { return a.order == "" || a.stage.Ended() }

// on is the agent a stage further.
func (a *sim) on(w *walk) {
	switch a.stage {
	case message.UpgradeFetching, message.UpgradeWaiting:
		if a.busy > 0 {
			a.busy--
			a.stage, a.code = message.UpgradeWaiting, message.UpgradeWaitsAttempt
			return
		}
		if w.fates[a.program] == refused {
			a.stage, a.code = message.UpgradeRefused, message.UpgradeBadSignature
			return
		}
		a.stage, a.code, a.runs = message.UpgradeTrial, "", a.program
	case message.UpgradeTrial:
		switch w.fates[a.program] {
		case back:
			a.stage, a.code, a.runs = message.UpgradeReturned, message.UpgradeUnheard, a.before
		case silent:
			a.cut = true
		default:
			if !a.cut {
				a.stage = message.UpgradeDone
			}
		}
	default:
	}
}

func (w *walk) stored(agent string) *resource.Agent {
	w.t.Helper()
	a, err := store.Get[*resource.Agent](w.store.Objects, agent)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// look holds what is stored to what must always be so.
func (w *walk) look() {
	w.t.Helper()
	ordered := map[string]bool{} // racks
	for _, name := range slices.Sorted(maps.Keys(w.agents)) {
		a := w.stored(name)
		o, was := a.Status.Order, w.known[name]
		if o == nil {
			continue
		}
		switch {
		case was.ID == o.ID && !was.Open() && o.Open():
			w.t.Errorf("order %s of %s was over, and is open", o.ID, name)
		case was.ID != o.ID && was.ID == w.agents[name].order && !w.agents[name].ended():
			w.t.Errorf("%s has order %s, and is at %s of %s", name, o.ID, w.agents[name].stage, was.ID)
		case was.ID != o.ID && o.Kind == resource.AgentOrderUpgrade && w.mute[o.UID]:
			w.t.Errorf("%s is ordered %s by an upgrade that is to give no release any more", name, o.ID)
		case was.ID != o.ID && w.agents[name].took[o.ID]:
			w.t.Errorf("order %s was given to %s a second time", o.ID, name)
		}
		if was.ID != o.ID {
			w.firstStandby(a, o)
			if s := w.agents[name]; s.ended() && !s.cut && w.program(o) == s.runs {
				w.t.Errorf("%s is ordered to run what it runs", name)
			}
		}
		if s := w.agents[name]; s.cut && s.took[o.ID] && !o.Open() && was.Open() {
			w.t.Errorf("order %s of %s is over, of which nobody knows what became", o.ID, name)
		}
		if o.Open() {
			ordered[a.Spec.RackRef.Name] = true
		}
		w.known[name] = *o
	}
	if w.most > 0 && len(ordered) > w.most {
		w.t.Errorf("%d racks are ordered at once, and at most %d may be", len(ordered), w.most)
	}
}

// firstStandby looks that who stands by was upgraded before the agent that serves.
func (w *walk) firstStandby(a *resource.Agent, o *resource.AgentOrder) {
	w.t.Helper()
	rack, err := store.Get[*resource.Rack](w.store.Objects, a.Spec.RackRef.Name)
	if err != nil {
		w.t.Fatal(err)
	}
	s := w.agents[rack.Status.Standby]
	if rack.Status.Agent != a.Metadata.Name || s == nil || !s.able || s.cut || o.Kind != resource.AgentOrderUpgrade {
		return
	}
	if !s.ended() || s.runs != w.program(o) {
		w.t.Errorf("%s is ordered before %s, which stands by and is at %s", a.Metadata.Name, s.name, s.stage)
	}
}

// program is what an order has an agent run.
func (w *walk) program(o *resource.AgentOrder) string {
	w.t.Helper()
	p, err := w.store.AgentPackages.Get(o.Package)
	if err != nil {
		w.t.Fatal(err)
	}
	m, err := agentpackage.Read(p.Manifest)
	if err != nil {
		w.t.Fatal(err)
	}
	return m.Binaries[0].SHA256
}

// upgrade makes an upgrade to a package.
func (w *walk) upgrade(name string, n int, change func(u *resource.AgentUpgrade)) *resource.AgentUpgrade {
	w.t.Helper()
	u := &resource.AgentUpgrade{Spec: resource.AgentUpgradeSpec{Package: digestOf(n)}}
	u.Metadata.Name, u.Metadata.UID = name, "u-"+name
	at := w.now
	u.Metadata.CreatedAt = &at
	if change != nil {
		change(u)
	}
	u.Default()
	if errs := u.Validate(); len(errs) > 0 {
		w.t.Fatal(errs)
	}
	w.put(u)
	return u
}

func (w *walk) status(name string) *resource.RolloutStatus {
	w.t.Helper()
	u, err := store.Get[*resource.AgentUpgrade](w.store.Objects, name)
	if err != nil {
		w.t.Fatal(err)
	}
	return u.Status.Rollout
}

// until takes steps until the roll-out is over, or paused.
func (w *walk) until(name string, phases ...resource.RolloutPhase) resource.RolloutPhase {
	w.t.Helper()
	for range 2000 {
		if r := w.status(name); r != nil && slices.Contains(phases, r.Phase) {
			return r.Phase
		}
		w.step(time.Duration(2+w.rng.IntN(60)) * time.Second)
	}
	w.t.Fatalf("the roll-out stays at %+v", w.status(name))
	return ""
}

func (w *walk) running(program string) (n int) {
	for _, a := range w.agents {
		if a.runs == program && a.ended() {
			n++
		}
	}
	return n
}

// A sound release reaches every agent, though the hub dies again and again.
func TestSoundRelease(t *testing.T) {
	for seed := range uint64(6) {
		w := newWalk(t, seed, 6)
		w.crash, w.most = 0.1, 1
		w.step(time.Second)
		w.upgrade("all", 1, nil)
		if got := w.until("all", resource.RolloutCompleted, resource.RolloutPaused, resource.RolloutFailed); got != resource.RolloutCompleted {
			t.Fatalf("seed %d: %s: %s", seed, got, w.status("all").Reason)
		}
		if n := w.running(program(1)); n != len(w.agents) {
			t.Fatalf("seed %d: %d of %d agents run it", seed, n, len(w.agents))
		}
	}
}

// A release that does not work costs one rack its restart, and nobody runs it in the end. Where it was refused nothing was
// restarted at all.
func TestBadRelease(t *testing.T) {
	for _, what := range []fate{refused, back} {
		for seed := range uint64(4) {
			w := newWalk(t, seed, 6)
			w.crash, w.most, w.fates[program(1)] = 0.1, 1, what
			w.step(time.Second)
			w.upgrade("all", 1, nil)
			if got := w.until("all", resource.RolloutCompleted, resource.RolloutPaused, resource.RolloutFailed); got != resource.RolloutPaused {
				t.Fatalf("seed %d, %s: %s: %s", seed, what, got, w.status("all").Reason)
			}
			w.crash = 0
			w.step(time.Second)
			took := 0
			for _, a := range w.agents {
				took += len(a.took)
			}
			if n := w.running(oldProgram); n != len(w.agents) || took != 1 {
				t.Fatalf("seed %d, %s: %d of %d agents run what they ran, %d took the order", seed, what, n, len(w.agents), took)
			}
			if c := w.room.conds.Of("all"); len(c) != 1 || c[0].Code != resource.CondAgentUpgradeFailed {
				t.Errorf("seed %d, %s: %+v", seed, what, c)
			}
		}
	}
}

// The hub dies between each two writes, and each agent gets one order all the same.
func TestDeathAtEachPoint(t *testing.T) {
	for _, point := range []string{"hub.upgrade.begun", "hub.upgrade.stepped", "hub.upgrade.ordered", "hub.upgrade.heard"} {
		w := newWalk(t, 7, 3)
		w.step(time.Second)
		w.point = point
		w.upgrade("all", 1, nil)
		if got := w.until("all", resource.RolloutCompleted, resource.RolloutPaused); got != resource.RolloutCompleted || w.point != "" {
			t.Errorf("%s: %s, died %t", point, got, w.point == "")
		}
		for _, a := range w.agents {
			if len(a.took) != 1 {
				t.Errorf("%s: %s took %d orders", point, a.name, len(a.took))
			}
		}
	}
}

// A rack follows the newest upgrade that selects it, also where the hub dies as it ends the one before. Deleting the newest
// takes nobody back.
func TestNewestUpgrade(t *testing.T) {
	w := newWalk(t, 1, 4)
	w.step(time.Second)
	w.upgrade("one", 1, nil)
	for w.running(program(1)) == 0 {
		w.step(20 * time.Second)
	}
	w.point = "hub.upgrade.superseded"
	w.upgrade("two", 2, nil)
	w.mute["u-one"] = true
	w.until("two", resource.RolloutCompleted)
	if st := w.status("one"); st.Phase != resource.RolloutSuperseded || w.point != "" {
		t.Errorf("the older is %+v, died %t", st, w.point == "")
	}
	u, err := w.store.Objects.Get(resource.KindAgentUpgrade, "two")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.Objects.Remove(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		w.step(20 * time.Second)
	}
	if n := w.running(program(2)); n != len(w.agents) {
		t.Errorf("%d of %d agents run the newest", n, len(w.agents))
	}
}

// A pause between the two agents of a rack may be long: the other one's time does not run, and it is upgraded afterwards.
func TestLongPause(t *testing.T) {
	w := newWalk(t, 1, 1)
	w.step(time.Second)
	w.upgrade("all", 1, nil)
	for w.agents["r00-s"].stage != message.UpgradeTrial {
		w.step(20 * time.Second)
	}
	w.command("all", api.RolloutPause)
	for range 300 {
		w.step(20 * time.Second)
	}
	if w.agents["r00-a"].runs != oldProgram {
		t.Error("it was ordered in the pause")
	}
	w.command("all", api.RolloutResume)
	if got := w.until("all", resource.RolloutCompleted, resource.RolloutPaused); got != resource.RolloutCompleted || w.running(program(1)) != 2 {
		t.Errorf("%s: %+v", got, w.status("all"))
	}
}

// An agent that took its order and was never heard again may run anything: its order stays, and nobody else is ordered
// beyond the room that there is. Once it is heard, what it says counts.
func TestLostAgent(t *testing.T) {
	w := newWalk(t, 1, 3)
	w.most, w.fates[program(1)] = 1, lost
	w.step(time.Second)
	w.upgrade("all", 1, nil)
	for range 300 {
		w.step(20 * time.Second)
	}
	taken := slices.DeleteFunc(slices.Collect(maps.Values(w.agents)), func(a *sim) bool { return len(a.took) == 0 })
	if len(taken) != 1 || !w.stored(taken[0].name).Status.Order.Open() {
		t.Fatalf("%d agents took an order", len(taken))
	}
	clear(w.fates)
	taken[0].cut = false
	for i := 0; i < 200 && taken[0].runs != program(1); i++ {
		w.step(20 * time.Second)
	}
	if o := w.stored(taken[0].name).Status.Order; taken[0].runs != program(1) || len(taken[0].took) != 1 {
		t.Errorf("%s took %d orders, and runs %s: %+v", taken[0].name, len(taken[0].took), taken[0].runs, o)
	}
}

// Nobody is told to run what is not here, and it begins by itself once it is.
func TestMissingProgram(t *testing.T) {
	w := newWalk(t, 1, 2)
	w.gone = true
	w.step(time.Second)
	w.upgrade("all", 1, nil)
	for range 20 {
		w.step(20 * time.Second)
	}
	if c := w.room.conds.Of("all"); w.status("all") != nil || len(c) != 1 || c[0].Code != resource.CondAgentPackageMissing {
		t.Errorf("%+v, %+v", w.status("all"), c)
	}
	w.gone = false
	w.until("all", resource.RolloutCompleted)
}

// Texts of agents are cut between characters.
func TestCut(t *testing.T) {
	for text, want := range map[string]string{"": "", "abc": "abc", "abcdef": "abcd", "abcé": "abc", "abé": "abé"} {
		if got := cut(text, 4); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// A command is stored before it is answered: a hub that dies right after has it.
func TestSaidBeforeDeath(t *testing.T) {
	w := newWalk(t, 1, 2)
	w.step(time.Second)
	w.upgrade("all", 1, nil)
	w.step(time.Second)
	func() {
		defer func() {
			if at := recover(); at != died("hub.upgrade.said") {
				t.Fatalf("it died at %v", at)
			}
		}()
		w.crash = 1
		_, _ = w.room.CommandUpgrade(t.Context(), "all", api.RolloutRequest{Command: api.RolloutPause, Reason: "a test"}, "ann")
	}()
	w.crash = 0
	w.open()
	if st := w.status("all"); st.Phase != resource.RolloutPaused || st.By != "ann" {
		t.Errorf("%+v", st)
	}
}

// What the first racks run well, and a later one does not, is taken back from all of them, in the package that has what each
// ran before.
func TestRollbackReturns(t *testing.T) {
	for seed := range uint64(4) {
		w := newWalk(t, seed, 6)
		w.crash, w.most = 0.05, 1
		w.step(time.Second)
		w.upgrade("all", 1, func(u *resource.AgentUpgrade) { u.Spec.Rollout.OnFailure = resource.OnFailureRollback })
		for w.running(program(1)) < 4 {
			w.step(20 * time.Second)
		}
		w.fates[program(1)] = back
		if got := w.until("all", resource.RolloutRolledBack, resource.RolloutPaused, resource.RolloutCompleted, resource.RolloutFailed); got != resource.RolloutRolledBack {
			t.Fatalf("seed %d: %s: %s", seed, got, w.status("all").Reason)
		}
		for i := 0; i < 500 && w.running(oldProgram) < len(w.agents); i++ {
			w.step(20 * time.Second)
		}
		returned := 0
		for _, o := range w.known {
			if o.Kind == resource.AgentOrderReturn && o.Package == digestOf(0) && o.Stage == string(message.UpgradeDone) {
				returned++
			}
		}
		if n := w.running(oldProgram); n != len(w.agents) || returned < 4 {
			t.Fatalf("seed %d: %d of %d agents run what they ran before, %d by an order: %+v", seed, n, len(w.agents), returned, w.status("all"))
		}
	}
}

// Nothing is given after a roll-out was aborted; what an agent has begun it ends, and keeps.
func TestAbort(t *testing.T) {
	for seed := range uint64(4) {
		w := newWalk(t, seed, 6)
		w.crash, w.most = 0.05, 1
		w.step(time.Second)
		w.upgrade("all", 1, nil)
		for w.running(program(1)) < 1+int(seed)%5 {
			w.step(20 * time.Second)
		}
		w.command("all", api.RolloutAbort)
		w.mute["u-all"] = true
		n := w.running(program(1))
		for range 200 {
			w.step(20 * time.Second)
		}
		if got := w.running(program(1)); got < n || got > n+1 || w.running(oldProgram)+got != len(w.agents) {
			t.Fatalf("seed %d: %d agents ran it, %d do now, and %d what they ran before", seed, n, got, w.running(oldProgram))
		}
	}
}

func (w *walk) command(name string, c api.RolloutCommand, may ...bool) {
	w.t.Helper()
	was := w.crash
	w.crash = 0
	if _, err := w.room.CommandUpgrade(w.t.Context(), name, api.RolloutRequest{Command: c, Reason: "a test"}, "ann"); err != nil && len(may) == 0 {
		w.t.Fatal(err)
	}
	w.crash = was
}

// Whatever happens, what must always be so is; and once all is well again the newest upgrade is at each agent that can
// upgrade itself.
func TestAnything(t *testing.T) {
	for seed := range uint64(16) {
		w := newWalk(t, seed, 1+int(seed)%5)
		w.crash = 0.05
		names := slices.Sorted(maps.Keys(w.agents))
		newest, made := "", 0
		for range 150 {
			switch w.rng.IntN(12) {
			case 0:
				w.agents[names[w.rng.IntN(len(names))]].cut = true
			case 1, 2:
				w.agents[names[w.rng.IntN(len(names))]].cut = false
			case 3:
				if made < 6 {
					made++
					newest = fmt.Sprintf("u%d", made)
					w.upgrade(newest, 1+w.rng.IntN(2), func(u *resource.AgentUpgrade) {
						if w.rng.IntN(3) == 0 {
							u.Spec.Racks = &resource.Selector{MatchLabels: map[string]string{"row": "0"}}
						}
						u.Spec.Rollout.MaxUnavailable = resource.Share(fmt.Sprint(1 + w.rng.IntN(3)))
					})
				}
			case 4:
				if newest != "" && w.rng.IntN(4) == 0 {
					w.command(newest, []api.RolloutCommand{api.RolloutPause, api.RolloutResume, api.RolloutNext}[w.rng.IntN(3)], true)
				}
			case 5:
				w.fates[program(1+w.rng.IntN(2))] = []fate{well, refused, back}[w.rng.IntN(3)]
			}
			w.step(time.Duration(1+w.rng.IntN(120)) * time.Second)
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
		w.crash = 0
		clear(w.fates)
		for _, a := range w.agents {
			a.cut = false
		}
		w.step(time.Second)
		w.upgrade("last", 1, nil)
		got := w.until("last", resource.RolloutCompleted, resource.RolloutPaused, resource.RolloutFailed)
		for i := 0; i < 200 && w.running(program(1)) < len(w.agents); i++ {
			w.step(20 * time.Second) // nobody waits for an agent that waits itself
		}
		if n := w.running(program(1)); got != resource.RolloutCompleted || n != len(w.agents) {
			t.Fatalf("seed %d: all is well, %s, and %d of %d agents run it: %+v", seed, got, n, len(w.agents), w.status("last"))
		}
	}
}

// An agent that cannot upgrade itself is left out, and said; one that is silent in its trial ends the roll-out, and is not
// ordered anything else until it is heard again.
func TestUnableAndSilent(t *testing.T) {
	w := newWalk(t, 1, 4)
	w.most = 1
	w.agents["r01-a"].able = false
	w.step(time.Second)
	w.upgrade("all", 1, nil)
	for range 600 {
		w.step(20 * time.Second)
	}
	if st := w.status("all"); st.Phase != resource.RolloutCompleted || w.agents["r01-a"].runs != oldProgram || w.running(program(1)) != len(w.agents)-1 {
		t.Fatalf("%+v", st)
	}
	if c := w.room.conds.Of("all"); len(c) != 1 || c[0].Code != resource.CondAgentNoUpgrade || !strings.Contains(c[0].Message, "r01") {
		t.Errorf("%+v", c)
	}

	w.fates[program(2)] = silent
	w.upgrade("next", 2, nil)
	w.until("next", resource.RolloutPaused)
	for range 100 {
		w.step(20 * time.Second)
	}
	took := 0
	for _, a := range w.agents {
		if a.cut {
			took++
		}
	}
	if took != 1 {
		t.Errorf("%d agents fell silent with it", took)
	}
}
