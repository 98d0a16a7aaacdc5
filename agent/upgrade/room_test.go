package upgrade

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/agent/installed"
	"rackboot/protocol"
	"rackboot/protocol/agentpackage"
	"rackboot/protocol/message"
	"rackboot/protocol/wire"
	"rackboot/state"
	"rackboot/state/blob"
)

var (
	publisher = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	stranger  = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, ed25519.SeedSize))
	program   = []byte("the program of 2.0.0")
)

// rig is a room with a rack of the test's.
type rig struct {
	t   *testing.T
	cfg Config

	mu      sync.Mutex
	order   *message.UpgradeIntent
	facts   Facts
	away    bool // the hub
	content []byte
	fetch   error // of the next fetches
	fetched int
	told    []message.UpgradeReport
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, content: program}
	r.cfg = Config{
		Version: "1.0.0", Architecture: "amd64", Keys: []ed25519.PublicKey{publisher.Public().(ed25519.PublicKey)}, Store: installed.Files{Dir: installed.Dir(t.TempDir())},
		Rack: r, Files: r, Tell: r.tell, Clock: time.Now, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
	}
	r.cfg.Launched = &installed.Launched{Dir: r.cfg.Store.Dir, Place: installed.Packaged, Digest: wire.Digest([]byte("1.0.0"))}
	return r
}

func (r *rig) tell(u message.UpgradeReport) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = append(r.told, u)
}

// last is the last report.
func (r *rig) last() message.UpgradeReport {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.told) == 0 {
		return message.UpgradeReport{}
	}
	return r.told[len(r.told)-1]
}

func (r *rig) Order() (*message.UpgradeIntent, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.order, nil
}

func (r *rig) Facts() (Facts, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.facts, nil
}

func (r *rig) HubTime() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.away {
		return time.Time{}
	}
	return time.Now()
}

func (r *rig) Bring(context.Context, string, string, int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fetched++
	return r.fetch
}

func (r *rig) Read(string) (io.ReadCloser, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return io.NopCloser(bytes.NewReader(r.content)), nil
}

func (r *rig) Let(string) error { return nil }

func (r *rig) set(do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do()
}

// ordered is an order to run the program.
func ordered(t *testing.T, name string, key ed25519.PrivateKey, change func(*agentpackage.Manifest)) *message.UpgradeIntent {
	t.Helper()
	m := agentpackage.Manifest{
		Version: "2.0.0", Protocol: protocol.Version, MadeAt: time.Unix(1, 0).UTC(),
		Binaries: []agentpackage.Binary{{Architecture: "amd64", SHA256: wire.Digest(program), Size: int64(len(program))}},
	}
	if change != nil {
		change(&m)
	}
	signed, err := agentpackage.Sign(m, key)
	if err != nil {
		t.Fatal(err)
	}
	return &message.UpgradeIntent{Order: name, Manifest: signed, NotAfter: time.Now().Add(time.Hour)}
}

// run runs a room within a bubble until nothing is done any more, then what during does, and ends it. err is that of Run.
func (r *rig) run(during ...func(*Room)) (err error) {
	r.t.Helper()
	synctest.Test(r.t, func(t *testing.T) {
		r.cfg.Registerer = prometheus.NewRegistry()
		room := New(r.cfg)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- room.Run(ctx) }()
		synctest.Wait()
		for _, do := range during {
			do(room)
			room.Look()
			synctest.Wait()
		}
		cancel()
		err = <-done
	})
	return err
}

func (r *rig) record() installed.Record {
	r.t.Helper()
	rec, err := r.cfg.Store.Read()
	if err != nil {
		r.t.Fatal(err)
	}
	return rec
}

// TestOrder: what an order comes to in one go. Whatever ends it stays so with the same order, also for the next process.
func TestOrder(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*agentpackage.Manifest)
		set    func(*rig)
		stage  message.UpgradeStage
		code   message.UpgradeCode
		runs   bool // it goes on trial
		fetch  int
	}{
		"a good one":               {nil, nil, message.UpgradeTrial, "", true, 1},
		"another key":              {nil, func(r *rig) { r.cfg.Keys = []ed25519.PublicKey{stranger.Public().(ed25519.PublicKey)} }, message.UpgradeRefused, message.UpgradeBadSignature, false, 0},
		"a torn manifest":          {nil, func(r *rig) { r.order.Manifest = r.order.Manifest[1:] }, message.UpgradeRefused, message.UpgradeBadManifest, false, 0},
		"another architecture":     {nil, func(r *rig) { r.cfg.Architecture = "arm64" }, message.UpgradeRefused, message.UpgradeNoProgram, false, 0},
		"from a later version":     {func(m *agentpackage.Manifest) { m.From = "1.0.1" }, nil, message.UpgradeRefused, message.UpgradeTooOld, false, 0},
		"from this version":        {func(m *agentpackage.Manifest) { m.From = "1.0.0" }, nil, message.UpgradeTrial, "", true, 1},
		"too late":                 {nil, func(r *rig) { r.order.NotAfter = time.Unix(1, 0) }, message.UpgradeRefused, message.UpgradeLate, false, 0},
		"it runs already":          {nil, func(r *rig) { r.cfg.Launched.Digest = wire.Digest(program) }, message.UpgradeDone, "", false, 0},
		"another content":          {nil, func(r *rig) { r.content = []byte("the program of 2.0.1") }, message.UpgradeRefused, message.UpgradeBadFile, false, 1},
		"another length":           {nil, func(r *rig) { r.content = append(bytes.Clone(program), '!') }, message.UpgradeRefused, message.UpgradeBadFile, false, 1},
		"a hub with another file":  {nil, func(r *rig) { r.fetch = blob.ErrContent }, message.UpgradeRefused, message.UpgradeBadFile, false, 1},
		"no room":                  {nil, func(r *rig) { r.fetch = blob.ErrInsufficient }, message.UpgradeRefused, message.UpgradeNoRoom, false, 1},
		"a hub that does not give": {nil, func(r *rig) { r.fetch = errors.New("it is away") }, message.UpgradeFetching, message.UpgradeWaitsFetch, false, 1},
		"a boot under way":         {nil, func(r *rig) { r.facts.Attempts = []string{"n1"} }, message.UpgradeWaiting, message.UpgradeWaitsAttempt, false, 1},
		"a hub that is not heard":  {nil, func(r *rig) { r.away = true }, message.UpgradeWaiting, message.UpgradeWaitsHub, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.order = ordered(t, "01a", publisher, row.change)
			if row.set != nil {
				row.set(r)
			}
			err := r.run()
			u := r.last()
			if u.Order != "01a" || u.Stage != row.stage || u.Code != row.code || errors.Is(err, ErrTrial) != row.runs || r.fetched != row.fetch {
				t.Errorf("%+v, %v; %d fetches", u, err, r.fetched)
			}
			rec := r.record()
			if row.runs != (rec.Trial != nil) || row.stage.Ended() != (rec.Last != nil) {
				t.Errorf("the record is %+v", rec)
			}
			if row.runs {
				got, err := installed.DigestOf(r.cfg.Store.Program(rec.Trial.Slot))
				if err != nil || got != rec.Trial.Digest || got != wire.Digest(program) {
					t.Errorf("the slot has %s (%v)", got, err)
				}
				return
			}
			if !row.stage.Ended() {
				return
			}
			// Once more, all well now: an order that has ended is not done again.
			again := newRig(t)
			again.cfg.Store, again.cfg.Launched.Dir, again.order = r.cfg.Store, r.cfg.Store.Dir, ordered(t, "01a", publisher, nil)
			if err := again.run(); err != nil || again.fetched > 0 || again.last().Stage != row.stage || again.last().Code != row.code {
				t.Errorf("again: %+v, %v", again.last(), err)
			}
			// A new one is.
			again.order = ordered(t, "01b", publisher, nil)
			if err := again.run(); !errors.Is(err, ErrTrial) {
				t.Errorf("another order: %+v, %v", again.last(), err)
			}
		})
	}
}

// TestWaits: an order waits as long as something is under way, and goes on by itself; nothing is fetched twice.
func TestWaits(t *testing.T) {
	r := newRig(t)
	r.order = ordered(t, "01a", publisher, nil)
	r.facts = Facts{Attempts: []string{"n1"}, Holds: []string{"n2"}}
	var seen []message.UpgradeCode
	note := func() { seen = append(seen, r.last().Code) }
	since := time.Time{}
	err := r.run(
		func(*Room) { note(); since = r.last().Since; r.set(func() { r.facts.Holds = nil }) },
		func(*Room) { note(); r.set(func() { r.facts.Attempts, r.away = nil, true }) },
		func(*Room) {
			note()
			time.Sleep(3 * lookEvery)
			r.set(func() { r.away = false })
			time.Sleep(2 * lookEvery)
		},
	)
	want := []message.UpgradeCode{message.UpgradeWaitsHold, message.UpgradeWaitsAttempt, message.UpgradeWaitsHub}
	if !errors.Is(err, ErrTrial) || !slices.Equal(seen, want) || r.fetched != 1 || since.IsZero() {
		t.Errorf("%v: %v, %d fetches", err, seen, r.fetched)
	}
}

// TestLateWhileWaiting: an order that waits beyond its time is refused.
func TestLateWhileWaiting(t *testing.T) {
	r := newRig(t)
	r.facts.Holds = []string{"n1"}
	err := r.run(func(*Room) { // its time is that of the bubble
		r.set(func() { r.order = ordered(t, "01a", publisher, nil) })
	}, func(*Room) { time.Sleep(2 * time.Hour) })
	if u := r.last(); err != nil || u.Stage != message.UpgradeRefused || u.Code != message.UpgradeLate {
		t.Errorf("%+v, %v", u, err)
	}
}

// TestTaken: an order that is taken back while it waits is nothing any more.
func TestTaken(t *testing.T) {
	r := newRig(t)
	r.order, r.facts.Holds = ordered(t, "01a", publisher, nil), []string{"n1"}
	err := r.run(func(*Room) { r.set(func() { r.order, r.facts = nil, Facts{} }) }, func(*Room) { time.Sleep(time.Minute) })
	if u := r.last(); err != nil || u.Order != "" || u.Running == "" || r.record().Last != nil {
		t.Errorf("%+v, %v", u, err)
	}
}

// TestConfirm: a release on trial stays once the hub has answered it, and not before.
func TestConfirm(t *testing.T) {
	r := newRig(t)
	r.order = ordered(t, "01a", publisher, nil)
	if err := r.run(); !errors.Is(err, ErrTrial) {
		t.Fatal(err)
	}
	trial := r.record().Trial
	r.cfg.Launched.Place, r.cfg.Launched.Digest, r.cfg.Launched.Order = trial.Slot, trial.Digest, trial.Order
	err := r.run(func(*Room) {
		time.Sleep(time.Hour)
		if u := r.last(); u.Stage != message.UpgradeTrial || r.record().Trial == nil {
			t.Errorf("before it was answered: %+v", u)
		}
	}, func(room *Room) { room.InStep() })
	if rec := r.record(); err != nil || rec.Trial != nil || rec.Current != trial.Slot || rec.Digest != trial.Digest || rec.Last.Stage != message.UpgradeDone {
		t.Errorf("%+v, %v", rec, err)
	}
	if u := r.last(); u.Stage != message.UpgradeDone || u.Running != wire.Digest(program) {
		t.Errorf("%+v", u)
	}
	// The next goes into the other slot.
	r.cfg.Launched.Order = ""
	r.content = []byte("the program of 3.0.0")
	r.order = ordered(t, "01b", publisher, func(m *agentpackage.Manifest) {
		m.Version, m.Binaries[0].SHA256 = "3.0.0", wire.Digest(r.content)
	})
	if err := r.run(); !errors.Is(err, ErrTrial) || r.record().Trial.Slot == trial.Slot {
		t.Errorf("%+v, %v", r.record(), err)
	}
}

// TestConfirmLater: a disk that cannot be written is tried until it can.
func TestConfirmLater(t *testing.T) {
	r := newRig(t)
	r.order = ordered(t, "01a", publisher, nil)
	if err := r.run(); !errors.Is(err, ErrTrial) {
		t.Fatal(err)
	}
	r.cfg.Launched.Place, r.cfg.Launched.Order = installed.SlotA, "01a"
	aside := r.cfg.Store.Dir + ".aside"
	err := r.run(func(room *Room) {
		if err := errors.Join(os.Rename(r.cfg.Store.Dir, aside), os.WriteFile(r.cfg.Store.Dir, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		room.InStep()
	}, func(*Room) {
		if u := r.last(); u.Stage != message.UpgradeTrial {
			t.Errorf("%+v", u)
		}
		if err := errors.Join(os.Remove(r.cfg.Store.Dir), os.Rename(aside, r.cfg.Store.Dir)); err != nil {
			t.Fatal(err)
		}
	})
	if u := r.last(); err != nil || u.Stage != message.UpgradeDone {
		t.Errorf("%+v, %v", u, err)
	}
}

// TestUnable: without keys or launcher there is no capability, and an order is refused without a record.
func TestUnable(t *testing.T) {
	for name, row := range map[string]struct {
		set  func(*Config)
		says string
	}{
		"it can":               {func(*Config) {}, ""},
		"no keys":              {func(c *Config) { c.Keys = nil }, "upgrade.keys"},
		"no launcher":          {func(c *Config) { c.Launched = nil }, "rackboot-launcher has not started"},
		"a launcher elsewhere": {func(c *Config) { c.Launched.Dir = "/elsewhere" }, "/elsewhere"},
	} {
		r := newRig(t)
		row.set(&r.cfg)
		if says := r.cfg.Unable(); (says == "") != (row.says == "") || !strings.Contains(says, row.says) {
			t.Errorf("%s: %q", name, says)
		}
		caps := New(r.cfg).Capabilities()
		if slices.Contains(caps, message.CapUpgrade) != (row.says == "") {
			t.Errorf("%s: %v", name, caps)
		}
		if row.says == "" {
			continue
		}
		if err := r.run(); err != nil || len(r.told) > 0 {
			t.Errorf("%s: without an order %+v is told", name, r.told)
		}
		r.order = ordered(t, "01a", publisher, nil)
		if err := r.run(); err != nil || r.last().Stage != message.UpgradeRefused || r.last().Code != message.UpgradeNotByLauncher {
			t.Errorf("%s: %+v, %v", name, r.last(), err)
		}
		if _, err := os.Stat(filepath.Join(r.cfg.Store.Dir, "record.json")); err == nil {
			t.Errorf("%s: it is recorded", name)
		}
	}
}

// TestAfterDamage: an order whose record was damaged is not tried again, one that comes later is.
func TestAfterDamage(t *testing.T) {
	damaged := installed.Record{Current: installed.Packaged, Last: &installed.Outcome{Stage: message.UpgradeReturned, Code: message.UpgradeBroken, At: time.Unix(1, 0)}}
	for name, before := range map[string]bool{"an order of before": true, "an order of after": false} {
		r := newRig(t)
		if err := errors.Join(r.cfg.Store.Prepare(), r.cfg.Store.Write(damaged)); err != nil {
			t.Fatal(err)
		}
		o := ordered(t, "01a", publisher, nil)
		if before {
			r.order = o
		}
		err := r.run(func(*Room) { r.set(func() { r.order = o }) })
		if u := r.last(); before && (err != nil || u.Stage != message.UpgradeReturned || u.Code != message.UpgradeBroken || u.Order != "01a") {
			t.Errorf("%s: %+v, %v", name, u, err)
		}
		if !before && !errors.Is(err, ErrTrial) {
			t.Errorf("%s: %+v, %v", name, r.last(), err)
		}
	}
}

// TestNameless: an order that could not be known again is none.
func TestNameless(t *testing.T) {
	for _, name := range []string{"", strings.Repeat("x", maxOrder+1)} {
		r := newRig(t)
		r.order = ordered(t, name, publisher, nil)
		if err := r.run(); err != nil || r.fetched > 0 || r.last().Order != "" || r.record() != (installed.Record{Current: installed.Packaged}) {
			t.Errorf("%.5q: %+v, %v", name, r.last(), err)
		}
	}
}

// TestStaleTrial: a trial that no launcher has begun is judged anew.
func TestStaleTrial(t *testing.T) {
	r := newRig(t)
	r.order = ordered(t, "01a", publisher, nil)
	if err := r.run(); !errors.Is(err, ErrTrial) {
		t.Fatal(err)
	}
	r.facts.Holds = []string{"n1"}
	if err := r.run(); err != nil || r.last().Code != message.UpgradeWaitsHold || r.record().Trial != nil || r.fetched != 1 {
		t.Errorf("%+v, %v", r.last(), err)
	}
	// One that was begun is not tried again.
	r.facts = Facts{}
	if err := r.run(); !errors.Is(err, ErrTrial) {
		t.Fatal(err)
	}
	if err := r.cfg.Store.WriteSpent(installed.Spent{Order: "01a", Steps: 1}); err != nil {
		t.Fatal(err)
	}
	if err := r.run(); err != nil || r.last().Stage != message.UpgradeReturned || r.last().Code != message.UpgradeBroken || r.record().Trial != nil {
		t.Errorf("%+v, %v", r.last(), err)
	}
}

// TestCrashes: wherever a process ends on the way to a trial, the next one comes to it.
func TestCrashes(t *testing.T) {
	points := 0
	for n := 1; ; n++ {
		r := newRig(t)
		r.order = ordered(t, "01a", publisher, nil)
		seen := 0
		var at string
		r.cfg.Store.Crash = state.Crasher(func(point string) {
			if seen++; seen == n {
				at = point
				panic(point)
			}
		})
		crashed := func() (is bool) {
			defer func() { is = recover() != nil }()
			room := New(r.cfg)
			if err := room.begin(); err != nil {
				t.Fatal(err)
			}
			_, err := room.turn(t.Context())
			if !errors.Is(err, ErrTrial) {
				t.Fatal(err)
			}
			return false
		}()
		if !crashed {
			break
		}
		points++
		r.cfg.Store.Crash = nil
		if err := r.run(); !errors.Is(err, ErrTrial) || r.record().Trial == nil {
			t.Errorf("%s: %+v, %v", at, r.last(), err)
		}
	}
	if points < 6 {
		t.Errorf("%d points", points)
	}
}

func TestMetrics(t *testing.T) {
	r := newRig(t)
	room := New(r.cfg)
	room.say("01a", message.UpgradeWaiting, message.UpgradeWaitsHold, "n1 is held")
	room.met.ended(message.UpgradeRefused)
	want := `
# HELP rackboot_agent_upgrade_able 1 while the agent can upgrade itself when the hub orders it, else 0.
# TYPE rackboot_agent_upgrade_able gauge
rackboot_agent_upgrade_able 1
# HELP rackboot_agent_upgrade_ended_total Orders to run another release that this process has ended, by how.
# TYPE rackboot_agent_upgrade_ended_total counter
rackboot_agent_upgrade_ended_total{stage="done"} 0
rackboot_agent_upgrade_ended_total{stage="refused"} 1
# HELP rackboot_agent_upgrade_stage 1 for how far the agent is with the last order to run another release, 0 for the other stages.
# TYPE rackboot_agent_upgrade_stage gauge
rackboot_agent_upgrade_stage{stage="done"} 0
rackboot_agent_upgrade_stage{stage="fetching"} 0
rackboot_agent_upgrade_stage{stage="refused"} 0
rackboot_agent_upgrade_stage{stage="returned"} 0
rackboot_agent_upgrade_stage{stage="trial"} 0
rackboot_agent_upgrade_stage{stage="waiting"} 1
`
	if err := testutil.GatherAndCompare(r.cfg.Registerer.(*prometheus.Registry), strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}

// What is said for people is bounded and text, wherever it is cut: else the hub refuses the report that has it.
func TestBounded(t *testing.T) {
	for _, s := range []string{"", "short", strings.Repeat("é", maxMessage), "a" + strings.Repeat("é", maxMessage), "\xff" + strings.Repeat("x", 2*maxMessage)} {
		if got := bounded(s); !utf8.ValidString(got) || len(got) > maxMessage+8 {
			t.Errorf("%d bytes: %q", len(got), got)
		}
	}
}
