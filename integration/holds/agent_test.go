package holds

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	rackagent "rackboot/agent"
	"rackboot/agent/guard"
	agentsecret "rackboot/agent/secret"
	"rackboot/agent/store"
	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/protocol/sealbox"
	"rackboot/protocol/wire"
	agentstate "rackboot/state"
	"rackboot/state/statetest"
)

// agent is the real agent over an in-memory store. Its disk outlives it. There are no
// boot servers: those need sockets.
type agent struct {
	site   *site
	name   string
	signer *wire.Signer
	disk   *statetest.Memory
	harm   string // what is wrong with the disk; empty is nothing
	slots  string // the folder of the guard set, which outlives the agent as the disk does
	guard  *guard.Guard

	*process
	core   *rackagent.Agent
	crash  string // the point at which it dies next
	still  frost
	orders orders
}

// order is what the agent told the BMC to do, whatever the BMC answered.
type order struct {
	kind string // the Redfish reset type
	at   time.Time
}

// orders are safe for concurrent use.
type orders struct {
	mu  sync.Mutex
	all []order
}

func (o *orders) add(kind string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, order{kind, time.Now()})
}

func (o *orders) since(n int) []order {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]order(nil), o.all[n:]...)
}

func (a *agent) start() { a.begin(nil) }

// begin starts the agent; g is nil for a new process, else what the one goes on with that was made
// over another store, as agent/daemon does.
func (a *agent) begin(g *guard.Guard) {
	s := a.site
	s.t.Helper()
	if a.process != nil {
		a.disk = a.disk.Copy()
	} else if strings.HasPrefix(s.row.ID, "G") || strings.HasPrefix(s.row.ID, "W") {
		a.slots = s.t.TempDir()
	}
	disk := a.disk
	disk.SetFull(a.harm == "full")
	disk.SetBroken(a.harm == "broken")
	a.process = newProcess(s.ctx, func() {
		a.disk = disk.Copy()
		a.keepSlots()
	}, func(err error) { s.t.Errorf("agent: %v", err) })
	p := a.process
	crash := func(point string) {
		if a.crash != "" && a.crash == point {
			a.crash = ""
			p.die()
		}
	}
	if a.guard = g; g == nil {
		a.guard = guard.Open(guard.Config{Agent: a.name, Dir: a.slots, Clock: s.clock.now, Logger: s.log.With("process", "agent"), Crash: crash})
	}
	db := a.open(disk)
	seed := sha256.Sum256([]byte(a.name)) // any 32 bytes are an X25519 key
	sealKey, err := sealbox.ParseKey(seed[:])
	if err != nil {
		s.t.Fatal(err)
	}
	keeper, err := agentsecret.New(a.name, sealKey)
	if err != nil {
		s.t.Fatal(err)
	}
	sessions := store.NewSessions(db, keeper)
	dialer, err := redfish.New(redfish.Config{Logger: s.log, Sessions: sessions, DialContext: s.dialBMC})
	if err != nil {
		s.t.Fatal(err)
	}
	a.core, err = rackagent.New(rackagent.Config{
		Agent: a.name, Rack: rackName, Version: "test", DB: db, Guard: a.guard, Blobs: s.blobs, Signer: a.signer,
		HubKeys: []ed25519.PublicKey{s.hubSigner.Public()}, Credentials: credentials{}, Puller: allLocal{}, Sessions: sessions,
		OpenBMC: func(t bmc.Target) (bmc.Driver, error) {
			d, err := dialer.Open(t)
			if err != nil {
				return nil, err
			}
			w := watched{d, p, &a.orders, &a.still}
			if s.row.Given.BMC.noEvents() {
				return struct {
					watched
					bmc.Inventorier
					bmc.RestorePolicer
				}{w, d.(bmc.Inventorier), d.(bmc.RestorePolicer)}, nil
			}
			return struct {
				watched
				bmc.Lister
				bmc.Inventorier
				bmc.EventSource
				bmc.RestorePolicer
			}{w, d.(bmc.Lister), d.(bmc.Inventorier), d.(bmc.EventSource), d.(bmc.RestorePolicer)}, nil
		},
		ReportEvery: 30 * time.Second,
		Clock:       s.clock.now, Random: rand.Reader, Logger: s.log.With("process", "agent"), Registerer: prometheus.NewRegistry(),
		Crash: crash,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	core, ready := a.core, make(chan struct{})
	p.run(func(ctx context.Context) error { return core.Run(ctx, func() { close(ready) }) })
	<-ready
	s.net.join(a.name, &endpoint{
		hears: hears(rackagent.Subscriptions(a.name)...), receive: core.Receive,
		up: func() {
			core.Connected(transport(func(topic string, payload []byte) error {
				if p.dead.Load() {
					return errDown
				}
				return s.net.publish(a.name, topic, payload)
			}))
		},
	})
}

// open opens the disk as agent/daemon does: one that has no room does not open, and the guard set
// is in its place.
func (a *agent) open(disk *statetest.Memory) agentstate.Store {
	if a.harm == "" {
		a.guard.Thaw()
		return disk
	}
	why := protocol.Errorf(protocol.CodeUnavailable, "open store", "the disk is %s", a.harm)
	a.guard.Begin(why, true)
	set, _ := a.guard.Set()
	pairs, err := store.Seed(set)
	if err != nil {
		a.site.t.Fatal(err)
	}
	return guard.Freeze(pairs, why)
}

// keepSlots keeps the guard set as it is now from what the dead still write.
func (a *agent) keepSlots() {
	if a.slots == "" {
		return
	}
	to := a.site.t.TempDir()
	if err := os.CopyFS(to, os.DirFS(a.slots)); err != nil {
		a.site.t.Error(err)
	}
	a.slots = to
}

// befall makes something wrong with the disk, or nothing any more.
func (a *agent) befall(harm string) {
	a.harm = harm
	a.disk.SetFull(harm == "full")
	a.disk.SetBroken(harm == "broken")
	if harm == "" && a.guard.Frozen() {
		a.stop()
		a.begin(a.guard)
	}
}

// stop ends the agent as a signal would, or buries one that has died.
func (a *agent) stop() {
	if a.process == nil {
		return
	}
	a.cancel()
	a.wg.Wait()
	a.site.net.leave(a.name)
	a.dead.Store(true)
}

type transport func(topic string, payload []byte) error

// Publish implements link.Transport.
func (t transport) Publish(topic string, payload []byte) error { return t(topic, payload) }

// watched writes down what goes to a driver, and lets nothing through for the dead.
type watched struct {
	bmc.Driver
	process *process
	orders  *orders
	still   *frost
}

// frost is whether the agent stands still: then its loops come no further than their next read.
type frost struct {
	mu     sync.Mutex
	thawed chan struct{} // nil while it does not
}

func (f *frost) set(stands bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case stands && f.thawed == nil:
		f.thawed = make(chan struct{})
	case !stands && f.thawed != nil:
		close(f.thawed)
		f.thawed = nil
	}
}

// wait returns when the agent does not stand still, or is no more.
func (f *frost) wait(p *process) {
	f.mu.Lock()
	thawed := f.thawed
	f.mu.Unlock()
	if thawed == nil {
		return
	}
	select {
	case <-thawed:
	case <-p.ctx.Done():
	}
}

func (w watched) gone() error {
	if w.process.dead.Load() {
		return protocol.Errorf(protocol.CodeUnavailable, "bmc", "the agent that asks is dead")
	}
	return nil
}

// Observe implements bmc.Driver.
func (w watched) Observe(ctx context.Context) (protocol.Observation, error) {
	w.still.wait(w.process)
	ctx = context.WithoutCancel(ctx) // a process that stands still sees no deadline pass
	if err := w.gone(); err != nil {
		return protocol.Observation{Power: protocol.PowerUnreachable, Code: protocol.CodeUnavailable, Error: err.Error()}, err
	}
	return w.Driver.Observe(ctx)
}

// Expect implements bmc.Finder.
func (w watched) Expect(id bmc.SystemID) {
	if f, ok := w.Driver.(bmc.Finder); ok {
		f.Expect(id)
	}
}

// SetBoot implements bmc.Driver.
func (w watched) SetBoot(ctx context.Context, want protocol.Override) (bmc.BootResult, error) {
	if err := w.gone(); err != nil {
		return bmc.BootResult{}, err
	}
	return w.Driver.SetBoot(ctx, want)
}

// Reset implements bmc.Driver.
func (w watched) Reset(ctx context.Context, r bmc.ResetType) error {
	if err := w.gone(); err != nil {
		return err
	}
	w.orders.add(string(r))
	return w.Driver.Reset(ctx, r)
}

// Close implements bmc.Driver.
func (w watched) Close() error {
	if w.process.dead.Load() {
		return nil // nobody is there to log out
	}
	return w.Driver.Close()
}

// The BMC's account.
const (
	username = "operator-account"
	password = "correct horse"
)

type credentials struct{}

// Read implements account.Local.
func (credentials) Read(string) (bmc.Credentials, string, error) {
	return bmc.Credentials{Username: username, Password: password}, "1", nil
}

// allLocal finds every boot file in place already.
type allLocal struct{}

// Pull implements files.Puller.
func (allLocal) Pull(context.Context, resource.Image) error { return nil }

// dialBMC is the agent's network toward the BMC.
func (s *site) dialBMC(ctx context.Context, _, _ string) (net.Conn, error) {
	return s.bmcDoor.Load().Dial(ctx)
}
