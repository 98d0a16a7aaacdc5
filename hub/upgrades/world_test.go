package upgrades

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol/agentpackage"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// robot is an agent of the simulated fleet.
type robot struct {
	name, rack  string
	active, bad bool // a bad one goes back from its trial
	silent      bool
	runs        string
	order       string // the last that it took
	stage       message.UpgradeStage
	code        message.UpgradeCode
	slot        string // the program of the trial
	lastAt      time.Time
	lastReport  message.Report
}

// world is a fleet, and what the hub hears of it.
type world struct {
	now    time.Time
	rnd    *rand.Rand
	kv     *storetest.Memory
	store  *store.Store
	room   *Room
	robots []*robot
	old    string            // the digest of the package before
	next   string            // and of the one to come
	holds  map[string]string // the program of a package
	orders map[string]bool   // every order ever given, by agent and id
	crash  string            // where the hub dies
	here   bool              // the programs are there
}

// died is what a hub says that dies.
type died string

// programOf is a digest of some content.
func programOf(n int) string { return "sha256:" + strings.Repeat(fmt.Sprint(n), 64) }

type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

func newWorld(t fatal, seed uint64, racks int) *world {
	t.Helper()
	w := &world{
		now: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), rnd: rand.New(rand.NewPCG(seed, 1)), kv: storetest.NewMemory(),
		holds: map[string]string{}, orders: map[string]bool{}, here: true,
	}
	w.open(t)
	key := ed25519.NewKeyFromSeed([]byte(strings.Repeat("k", ed25519.SeedSize)))
	for i, to := range []*string{&w.old, &w.next} {
		m := agentpackage.Manifest{Version: fmt.Sprintf("1.%d.0", i), Protocol: 1, MadeAt: w.now, Binaries: []agentpackage.Binary{{Architecture: "amd64", SHA256: programOf(i + 1), Size: 1}}}
		signed, err := agentpackage.Sign(m, key)
		if err != nil {
			t.Fatalf("%v", err)
		}
		*to = fmt.Sprintf("sha256:%x", sha256.Sum256(signed))
		w.holds[*to] = programOf(i + 1)
		if err := w.store.AgentPackages.Put(context.Background(), &store.AgentPackage{Digest: *to, Manifest: signed, UploadedAt: w.now}); err != nil {
			t.Fatalf("%v", err)
		}
	}
	for i := range racks {
		r := storetest.Rack(fmt.Sprintf("r%d", i))
		names := []string{fmt.Sprintf("a%d", i)}
		r.Status.Agent = names[0]
		if w.rnd.IntN(2) == 0 {
			names = append(names, fmt.Sprintf("s%d", i))
			r.Status.Standby = names[1]
		}
		w.put(t, r)
		for j, name := range names {
			a := &resource.Agent{Spec: resource.AgentSpec{RackRef: resource.Ref{Name: r.Metadata.Name}, Key: agentKey(name)}}
			a.Metadata.Name = name
			a.Default()
			w.put(t, a)
			l := store.Ledger{Agent: name, Peer: store.Peer{Version: "1.0.0", Capabilities: []message.Capability{message.CapUpgrade}}}
			if err := w.store.Ledgers.Put(context.Background(), &l); err != nil {
				t.Fatalf("%v", err)
			}
			w.robots = append(w.robots, &robot{name: name, rack: r.Metadata.Name, active: j == 0, runs: w.holds[w.old]})
		}
	}
	w.report()
	return w
}

func (w *world) put(t fatal, o resource.Object) {
	t.Helper()
	if err := w.store.Objects.Put(context.Background(), o); err != nil {
		t.Fatalf("%v", err)
	}
}

// open starts a hub on what is stored.
func (w *world) open(t fatal) {
	t.Helper()
	st, err := store.Open(context.Background(), store.Config{KV: w.kv, Log: w.kv, Clock: func() time.Time { return w.now }, NewID: func() string { return fmt.Sprint(w.rnd.Uint64()) }})
	if err != nil {
		t.Fatalf("%v", err)
	}
	w.store = st
	w.room = New(Config{
		Objects: st.Objects, Packages: st.AgentPackages, Ledgers: st.Ledgers, Reports: w, Files: w, Events: w,
		Clock: func() time.Time { return w.now }, Logger: slog.New(slog.DiscardHandler),
		Crash: func(point string) {
			if point == w.crash {
				w.crash = ""
				panic(died(point))
			}
		},
	})
}

// Agent implements Reports.
func (w *world) Agent(name string) (message.Report, time.Time, bool) {
	r := w.robot(name)
	return r.lastReport, r.lastAt, !r.lastAt.IsZero()
}

// Has implements Files.
func (w *world) Has(string) bool { return w.here }

// OwnOf implements Events.
func (w *world) OwnOf(context.Context, resource.Target, string, resource.EventCode, string) {}

func (w *world) robot(name string) *robot {
	for _, r := range w.robots {
		if r.name == name {
			return r
		}
	}
	return &robot{}
}

// report has every agent that is heard say how far it is.
func (w *world) report() {
	for _, r := range w.robots {
		if !r.silent {
			r.lastAt = w.now
			r.lastReport = message.Report{Upgrade: &message.UpgradeReport{Order: r.order, Stage: r.stage, Code: r.code, Running: r.runs}}
		}
	}
}

// turn is one of the hub, which may die in it.
func (w *world) turn(t fatal) (dead string) {
	t.Helper()
	defer func() {
		if v := recover(); v != nil {
			point, ok := v.(died)
			if !ok {
				panic(v)
			}
			dead = string(point)
			w.open(t)
		}
	}()
	if err := w.room.Turn(context.Background()); err != nil {
		t.Fatalf("a turn: %v", err)
	}
	return ""
}

// live lets agents do what they do in half a minute: what stands in their document is what is stored.
func (w *world) live() {
	w.now = w.now.Add(30 * time.Second)
	for _, r := range w.robots {
		a, err := store.Peek[*resource.Agent](w.store.Objects, r.name)
		if err != nil {
			continue
		}
		o := a.Status.Order
		switch {
		case r.stage == message.UpgradeTrial && r.bad:
			r.stage, r.code, r.runs, r.slot = message.UpgradeReturned, message.UpgradeExited, r.slot, ""
		case r.silent:
		case r.stage == message.UpgradeTrial:
			r.stage = message.UpgradeDone
		case o.Open() && o.ID != r.order && w.now.After(o.NotAfter):
			r.order, r.stage, r.code = o.ID, message.UpgradeRefused, message.UpgradeLate
		case o.Open() && o.ID != r.order:
			r.order, r.stage, r.code = o.ID, message.UpgradeFetching, ""
		case r.stage == message.UpgradeFetching && w.rnd.IntN(3) == 0:
			r.stage, r.code = message.UpgradeWaiting, message.UpgradeWaitsAttempt
		case (r.stage == message.UpgradeFetching || r.stage == message.UpgradeWaiting) && o.Open() && w.rnd.IntN(2) == 0:
			r.stage, r.code, r.slot, r.runs = message.UpgradeTrial, "", r.runs, w.holds[o.Package]
		}
	}
	w.report()
}

// upgrade is an AgentUpgrade to the package to come.
func (w *world) upgrade(t fatal, name, digest string, change func(*resource.AgentUpgrade)) {
	t.Helper()
	u := &resource.AgentUpgrade{Spec: resource.AgentUpgradeSpec{Package: digest}}
	u.Metadata.Name, u.Metadata.UID = name, "uid-"+name
	at := w.now
	u.Metadata.CreatedAt = &at
	if change != nil {
		change(u)
	}
	u.Default()
	w.put(t, u)
}

// told is the order of an agent.
func (w *world) told(name string) *resource.AgentOrder {
	a, err := store.Peek[*resource.Agent](w.store.Objects, name)
	if err != nil {
		return nil
	}
	return a.Status.Order
}

func agentKey(name string) ed25519.PublicKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey)
}
