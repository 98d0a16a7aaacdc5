package daemon

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/guard"
	"rackboot/agent/local"
	"rackboot/agent/store"
	bmcsim "rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	"rackboot/internal/metrics"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
	"rackboot/state/badger"
	"rackboot/state/statetest"
)

// guarded is an agent's folder with a server under a hold, and that server's BMC.
type guarded struct {
	t   *testing.T
	cfg Config
	bmc *bmcsim.BMC
	ctx context.Context
	// connections are those that the BMC has taken.
	connections atomic.Int64

	stop    context.CancelFunc
	stopped chan error
	metrics metrics.Registry
	log     *bytes.Buffer
}

// counted counts what a listener accepts.
type counted struct {
	net.Listener
	n *atomic.Int64
}

func (c counted) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.n.Add(1)
	}
	return conn, err
}

const heldServer = "n1"

// pause is between two tries to open a store.
const pause = 200 * time.Millisecond

func newGuarded(t *testing.T, dir string) *guarded {
	t.Helper()
	g := &guarded{t: t, cfg: Config{DataDir: filepath.Join(dir, "data"), CredentialsDir: filepath.Join(dir, "credentials"), Socket: filepath.Join(t.TempDir(), "s")}}
	b, err := bmcsim.New(bmcsim.Config{
		Machine:     hardware.NewSimulated(hardware.SimulatedConfig{Post: time.Millisecond, Shutdown: time.Millisecond}),
		Personality: bmcsim.Plain(), Username: "admin", Password: "secret",
		Listen: func() (net.Listener, error) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			return counted{l, &g.connections}, err
		}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	g.bmc = b
	if len(g.cfg.Socket) > local.MaxPath {
		t.Fatal(g.cfg.Socket)
	}
	for _, d := range []string{g.cfg.DataDir, g.cfg.CredentialsDir} {
		g.must(os.MkdirAll(d, 0o700))
	}
	g.must(os.WriteFile(filepath.Join(g.cfg.CredentialsDir, "bmc"), []byte("username: admin\npassword: secret\n"), 0o600))
	g.must(g.cfg.check())
	id := joined(t)
	public, key, err := ed25519.GenerateKey(rand.Reader)
	g.must(err)
	id.Key, id.Answer.Rack, id.Answer.Broker = key.Seed(), "rack-1", "mqtts://127.0.0.1:1"
	id.Keys.Everyday = public
	g.must(os.MkdirAll(filepath.Dir(identityPath(g.cfg.DataDir)), 0o700))
	g.must(id.save(g.cfg.DataDir, nil))
	_, err = sealKey(g.cfg.DataDir)
	g.must(err)
	g.hold()
	return g
}

func (g *guarded) must(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

// hold is what an agent leaves that has enforced a hold, and ended.
func (g *guarded) hold() {
	db, err := badger.Open(badger.Config{Dir: g.cfg.path("state"), MinFree: 1})
	g.must(err)
	set := guard.Open(guard.Config{Agent: "r1-1", Dir: g.cfg.DataDir, Clock: time.Now})
	st, err := store.Open(store.Config{DB: db, Guard: set, NewID: rand.Text})
	g.must(err)
	in := message.ServerIntent{
		Server: heldServer, UID: "uid-n1", Segment: "boot", BootMAC: "52:54:00:00:00:01", Architecture: "amd64", SystemURI: "",
		BMC: message.BMCIntent{Name: "n1", Address: g.bmc.Address(), Fingerprint: g.bmc.Fingerprint(), CredentialsRef: "local:bmc"},
	}
	_, _, err = st.Documents.ApplyRack(message.RackDoc{
		Head: protocol.Head{Version: 1}, Agent: "r1-1", Shards: 1, Servers: []message.ServerIntent{in},
		Rack: &message.RackIntent{Name: "rack-1", PollInterval: time.Second, SettleWindow: time.Second, SoftTimeout: time.Second},
	}, "1", func(message.ServerIntent) (*store.Credentials, error) { return nil, nil })
	g.must(err)
	g.older()
	_, _, err = st.Documents.ApplyHolds(time.Now(), message.HoldDoc{Head: protocol.Head{Version: 2}, Agent: "r1-1", Holds: []resource.ActiveHold{{
		ID: "h1", HoldSpec: resource.HoldSpec{Server: heldServer, Owner: "operator", HoldTerms: resource.HoldTerms{Key: "k", Mode: resource.StopHard}},
	}}}, "2")
	g.must(err)
	a, _, err := openAnchor(g.cfg.DataDir, nil, slog.New(slog.DiscardHandler))
	g.must(err)
	g.must(errors.Join(a.take(st), a.close(), db.Close(), set.Close()))
	execed()
}

// execed waits until no process that was just forked, by a test beside, has our files open: until its
// exec it has them all, and with them the lock of a store that was closed.
func execed() {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
}

// older takes a copy of the folder's database of before its hold.
func (g *guarded) older() {
	dir := g.cfg.path("state")
	g.must(os.RemoveAll(dir + ".older"))
	g.must(os.CopyFS(dir+".older", os.DirFS(dir)))
}

func (g *guarded) start() {
	g.t.Helper()
	ctx, stop := context.WithCancel(g.t.Context())
	g.ctx, g.stop, g.stopped, g.metrics = ctx, stop, make(chan error, 1), prometheus.NewRegistry()
	out := io.Discard
	if os.Getenv("RACKBOOT_TEST_LOG") != "" {
		out = os.Stderr
	}
	ready := make(chan struct{})
	go func() {
		g.stopped <- Run(ctx, g.cfg, Options{Version: "test", Logger: slog.New(slog.NewTextHandler(out, nil)), Registry: g.metrics, ReopenEvery: pause, Ready: func() { close(ready) }})
	}()
	select {
	case <-ready:
	case err := <-g.stopped:
		g.t.Fatalf("it ended: %v", err)
	case <-time.After(20 * time.Second):
		g.t.Fatal("it does not start")
	}
}

func (g *guarded) end() {
	g.t.Helper()
	g.stop()
	if err := <-g.stopped; err != nil {
		g.t.Errorf("it ended with %v", err)
	}
}

func (g *guarded) until(what string, so func() bool) {
	g.t.Helper()
	for end := time.Now().Add(20 * time.Second); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			g.t.Fatalf("not within 20 s: %s", what)
		}
	}
}

// guards reports whether the agent says at its socket that it is in guard mode.
func (g *guarded) guards() bool {
	s, err := local.NewClient(g.cfg.Socket).Status(g.ctx)
	return err == nil && slices.ContainsFunc(s.Conditions, func(c local.Condition) bool { return c.Code == resource.CondGuardMode })
}

func (g *guarded) serves() bool {
	s, err := local.NewClient(g.cfg.Socket).Status(g.ctx)
	return err == nil && !slices.ContainsFunc(s.Conditions, func(c local.Condition) bool { return c.Code == resource.CondGuardMode })
}

// press switches the server on at its BMC, and waits until it is off again by an order.
func (g *guarded) press() {
	g.t.Helper()
	before := g.resets()
	g.bmc.ExternalOn()
	g.until("that it is forced off", func() bool { return g.bmc.PowerState() == protocol.PowerOff && len(g.resets()) > len(before) })
}

// resets are what the agent ordered.
func (g *guarded) resets() (all []string) {
	for _, r := range g.bmc.History() {
		if r.What == bmcsim.RecordReset {
			all = append(all, r.Detail)
		}
	}
	return all
}

// onlyForcedOff: in guard mode and after it nothing else is ordered of a held server.
func (g *guarded) onlyForcedOff() {
	g.t.Helper()
	for _, r := range g.resets() {
		if r != "ForceOff" {
			g.t.Errorf("ordered %v", g.resets())
			return
		}
	}
}

// events are those that wait for the hub, read when the agent has ended.
func (g *guarded) events() (codes []resource.EventCode) {
	g.t.Helper()
	db, err := badger.Open(badger.Config{Dir: g.cfg.path("state"), MinFree: 1})
	g.must(err)
	defer func() { _ = db.Close() }()
	st, err := store.Open(store.Config{DB: db, NewID: rand.Text})
	g.must(err)
	b, err := st.Events.Backlog(1000)
	g.must(err)
	for _, e := range b.Events {
		codes = append(codes, e.Code)
	}
	return codes
}

// TestGuardAtStart: an agent that is started without its store guards what it held, and goes on
// by itself when the store is back.
func TestGuardAtStart(t *testing.T) {
	aside := func(g *guarded) string { return g.cfg.path("state") + ".aside" }
	for name, row := range map[string]struct{ harm, heal func(g *guarded) }{
		"the manifest is cut": {
			func(g *guarded) {
				g.must(os.CopyFS(aside(g), os.DirFS(g.cfg.path("state"))))
				g.must(os.Truncate(g.cfg.path("state", "MANIFEST"), 5))
			},
			func(g *guarded) { g.replace(aside(g)) },
		},
		"a byte of the key registry is flipped": {
			func(g *guarded) {
				g.must(os.CopyFS(aside(g), os.DirFS(g.cfg.path("state"))))
				flipAt(g.t, g.cfg.path("state", "KEYREGISTRY"), 20)
			},
			func(g *guarded) { g.replace(aside(g)) },
		},
		"it has lost a record that nobody looks at": {
			func(g *guarded) {
				g.must(os.CopyFS(aside(g), os.DirFS(g.cfg.path("state"))))
				db, err := badger.Open(badger.Config{Dir: g.cfg.path("state"), MinFree: 1})
				g.must(err)
				g.must(errors.Join(db.Update(func(x state.Txn) error { return x.Delete("event/00000000000000000001") }), db.Close()))
			},
			func(g *guarded) { g.replace(aside(g)) },
		},
		"it is an older copy": {
			func(g *guarded) {
				g.must(os.Rename(g.cfg.path("state"), aside(g)))
				g.must(os.Rename(g.cfg.path("state")+".older", g.cfg.path("state")))
			},
			func(g *guarded) { g.replace(aside(g)) },
		},
		"it is gone": {
			func(g *guarded) { g.must(os.Rename(g.cfg.path("state"), aside(g))) },
			func(g *guarded) { g.replace(aside(g)) },
		},
		"it is gone, and one slot is damaged": {
			func(g *guarded) {
				g.must(os.Rename(g.cfg.path("state"), aside(g)))
				flipAt(g.t, g.cfg.path("guard.0"), 70)
			},
			func(g *guarded) { g.replace(aside(g)) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGuarded(t, t.TempDir())
			row.harm(g)
			g.atStart(func() { row.heal(g) })
		})
	}
}

// atStart starts the agent without its store, and then with it.
func (g *guarded) atStart(heal func()) {
	g.t.Helper()
	g.bmc.ExternalOn()
	g.start()
	g.until("guard mode", g.guards)
	g.until("that what ran is forced off", func() bool { return g.bmc.PowerState() == protocol.PowerOff && len(g.resets()) > 0 })
	g.press()
	g.onlyForcedOff()
	heal()
	g.until("the end of guard mode", g.serves)
	g.until("a proof", g.fenced)
	g.press()
	g.onlyForcedOff()
	g.end()
	if got := g.events(); count(got, resource.EventGuardMode) != 2 || count(got, resource.EventFenced) < 1 {
		g.t.Errorf("events %v", got)
	}
}

func count(all []resource.EventCode, c resource.EventCode) (n int) {
	for _, o := range all {
		if o == c {
			n++
		}
	}
	return n
}

func (g *guarded) fenced() bool {
	all, err := local.NewClient(g.cfg.Socket).Holds(g.ctx)
	return err == nil && len(all) == 1 && all[0].Word == resource.HoldFenced
}

// replace puts a copy of the store into its place, as an operator does who has one. What was there stays beside it: the
// agent looks at it now and then, and what it has open must not go meanwhile.
func (g *guarded) replace(from string) {
	g.t.Helper()
	at := g.cfg.path("state")
	for end, n := time.Now().Add(10*time.Second), 0; ; n++ { // the agent may make one between the two
		err := os.Rename(at, fmt.Sprintf("%s.replaced.%d", at, n))
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = os.Rename(from, at)
		}
		if err == nil {
			return
		}
		if time.Now().After(end) {
			g.t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
}

func flipAt(t *testing.T, path string, at int) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw[at] ^= 1
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestGuardOnAFullDisk: the agent is started with less room than its store needs, and goes on
// when there is room.
func TestGuardOnAFullDisk(t *testing.T) {
	statetest.SmallDisk(t, 192, func(t *testing.T, dir string) {
		g := newGuarded(t, dir)
		ballast := filepath.Join(dir, "ballast")
		statetest.Fill(t, ballast, 64<<20)
		g.atStart(func() { g.must(os.Remove(ballast)) })
	})
}

// TestGuardWhileTheDiskFills: the store goes away and comes back while the agent runs.
func TestGuardWhileTheDiskFills(t *testing.T) {
	statetest.SmallDisk(t, 192, func(t *testing.T, dir string) {
		g := newGuarded(t, dir)
		g.start()
		g.until("a proof", g.fenced)
		ballast := filepath.Join(dir, "ballast")
		statetest.Fill(t, ballast, 64<<20)
		g.press()
		g.until("guard mode", g.guards)
		if g.fenced() {
			t.Error("it says Fenced in guard mode")
		}
		client := local.NewClient(g.cfg.Socket)
		for range 2 { // again is the same one
			if _, err := client.Place(g.ctx, heldServer, api.HoldRequest{HoldTerms: resource.HoldTerms{Key: "mine", Mode: resource.StopHard}}); protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), "it is guarded from now on") {
				t.Errorf("a hold is placed: %v", err)
			}
		}
		if _, err := client.Release(g.ctx, "h1", api.ReleaseRequest{BreakGlass: "by mistake"}); protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Errorf("a hold is released: %v", err)
		}
		all, err := client.Holds(g.ctx)
		if err != nil || len(all) != 2 || all[1].Word != resource.HoldAccepted || !all[1].Local {
			t.Errorf("holds %+v, %v", all, err)
		}
		s, err := client.Server(g.ctx, heldServer)
		if err != nil || s.Explain.WaitsFor != local.WaitStore || s.Guard == nil || s.Guard.Times < 1 || s.Guard.RanAt == nil {
			t.Errorf("explained as %+v, %+v, %v", s.Explain, s.Guard, err)
		}
		g.must(os.Remove(ballast))
		g.until("the end of guard mode", g.serves)
		g.until("proofs", func() bool {
			all, err := client.Holds(g.ctx)
			return err == nil && len(all) == 2 && all[0].Word == resource.HoldFenced && all[1].Word == resource.HoldFenced
		})
		g.onlyForcedOff()
		g.end()
		if got := g.events(); count(got, resource.EventGuardMode) != 2 || count(got, resource.EventHoldViolated) != 1 || count(got, resource.EventFenced) != 3 {
			t.Errorf("events %v", got)
		}
	})
}

// TestGuardOnAReadOnlyDisk: nothing of the agent's folder can be written.
func TestGuardOnAReadOnlyDisk(t *testing.T) {
	statetest.SmallDisk(t, 192, func(t *testing.T, dir string) {
		g := newGuarded(t, dir)
		g.must(syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
		g.atStart(func() { g.must(syscall.Mount("", dir, "", syscall.MS_REMOUNT, "")) })
	})
}

// TestAcceptLoss: a new database in the place of the agent's is not begun before somebody says
// that the old one is lost.
func TestAcceptLoss(t *testing.T) {
	g := newGuarded(t, t.TempDir())
	g.must(os.RemoveAll(g.cfg.path("state")))
	g.start()
	g.until("guard mode", g.guards)
	g.press()
	if err := AcceptLoss(g.cfg, "operator", ""); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("without a reason: %v", err)
	}
	g.must(AcceptLoss(g.cfg, "operator", "the disk was replaced"))
	g.until("the end of guard mode", g.serves)
	// That the database is lost releases nothing.
	all, err := local.NewClient(g.cfg.Socket).Holds(g.ctx)
	if err != nil || len(all) != 1 || all[0].ID != "h1" {
		t.Errorf("holds %+v, %v", all, err)
	}
	g.end()
	if got := g.events(); count(got, resource.EventLossAccepted) != 1 {
		t.Errorf("events %v", got)
	}
	if _, err := os.Stat(lossPath(g.cfg.DataDir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the word stays: %v", err)
	}
	// The next loss is another.
	g.hold()
	g.must(os.RemoveAll(g.cfg.path("state")))
	g.start()
	g.until("guard mode", g.guards)
	g.end()
}

// TestLossUnneeded: a word that nothing needed is not kept for a loss to come.
func TestLossUnneeded(t *testing.T) {
	g := newGuarded(t, t.TempDir())
	g.must(AcceptLoss(g.cfg, "operator", "by mistake"))
	g.start()
	g.until("service", g.serves)
	g.end()
	if accepted(g.cfg.DataDir) != nil {
		t.Error("the word stays")
	}
}

// TestNothingIsKnown: without a store and without a guard set the agent waits for the store; it
// makes no new identity of its database.
func TestNothingIsKnown(t *testing.T) {
	g := newGuarded(t, t.TempDir())
	db, err := badger.Open(badger.Config{Dir: g.cfg.path("state"), MinFree: 1})
	g.must(err)
	was, err := store.IncarnationOf(state.Store(db))
	g.must(errors.Join(err, db.Close()))
	for _, slot := range []string{"guard.0", "guard.1"} {
		flipAt(t, g.cfg.path(slot), 70)
	}
	aside := filepath.Join(t.TempDir(), "aside")
	g.must(os.CopyFS(aside, os.DirFS(g.cfg.path("state"))))
	g.must(os.Truncate(g.cfg.path("state", "MANIFEST"), 5))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	started := make(chan struct{})
	go func() {
		ended <- Run(ctx, g.cfg, Options{Version: "test", Logger: slog.New(slog.DiscardHandler), ReopenEvery: pause, Ready: func() { close(started) }})
	}()
	select {
	case <-started:
		t.Error("it serves")
	case err := <-ended:
		t.Errorf("it ended: %v", err)
	case <-time.After(4 * pause):
	}
	g.replace(aside)
	<-started
	stop()
	g.must(<-ended)
	db, err = badger.Open(badger.Config{Dir: g.cfg.path("state"), MinFree: 1})
	g.must(err)
	defer func() { _ = db.Close() }()
	if is, err := store.IncarnationOf(db); err != nil || is != was || strings.TrimSpace(is) == "" {
		t.Errorf("incarnation %q after %q, %v", is, was, err)
	}
}
