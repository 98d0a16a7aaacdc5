package faults

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	rackagent "rackboot/agent"
	"rackboot/agent/heartbeat"
	"rackboot/bmc"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
	"rackboot/state/statetest"
)

// agent is the real agent over an in-memory store, without boot servers. Its disk
// outlives it.
type agent struct {
	site   *site
	name   string
	rack   string
	signer *wire.Signer
	disk   atomic.Pointer[statetest.Memory]
	read   readings // of the disks
	// generation counts the disks: another one after each loss and each old copy.
	generation int
	// standby is the term of one that joined to stand by; acts and reads count what its runs did at BMCs.
	standby     uint64
	lines       []heartbeat.Line
	acts, looks atomic.Int64

	*process
	core    *rackagent.Agent
	metrics *prometheus.Registry
}

func (a *agent) alive() bool { return a.process != nil && !a.dead.Load() }

func (a *agent) start() {
	s := a.site
	s.t.Helper()
	disk := a.disk.Load()
	a.process = newProcess(s.ctx, func() {
		a.disk.Store(disk.Copy())
		_ = disk.Close() // of a Memory: nothing fails
	})
	a.metrics = prometheus.NewRegistry()
	var err error
	a.core, err = rackagent.New(rackagent.Config{
		Agent: a.name, Rack: a.rack, Standby: a.standby, Beats: a.lines, OpenBeat: s.beats.open, Version: "test", DB: disk, Blobs: s.blobs, Signer: a.signer,
		HubKeys: []ed25519.PublicKey{s.hubSigner.Public()}, Credentials: anyCredentials{}, OpenBMC: a.open, Puller: allLocal{},
		Clock: time.Now, Random: rand.Reader, Logger: s.log.With("agent", a.name), Registerer: a.metrics, Crash: a.crash,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	var publish func(string, []byte) error
	core := a.core
	e := &endpoint{
		name: a.name, process: a.process, subscribe: rackagent.Subscriptions(a.name), receive: core.Receive,
		up: func() {
			core.Connected(transport(func(topic string, payload []byte) error { return publish(topic, payload) }))
		},
	}
	publish = s.net.attach(e)
	ready := make(chan struct{})
	a.run(s, "agent", func(ctx context.Context) error { return core.Run(ctx, func() { close(ready) }) })
	<-ready
	s.net.connect(e)
}

// says is whether the agent itself has the condition now, whoever hears of it.
func (a *agent) says(code resource.ConditionCode) bool {
	families, err := a.metrics.Gather()
	if err != nil {
		a.site.t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "rackboot_agent_conditions" && m.GetLabel()[0].GetValue() == string(code) {
				return m.GetGauge().GetValue() > 0
			}
		}
	}
	return false
}

// swap puts another disk into the agent's host, whose agent does not run.
func (a *agent) swap(disk *statetest.Memory) {
	a.disk.Store(disk)
	a.generation++
	if !a.old(a.found()) {
		a.site.book.unseen()
	}
}

// old says whether the hub can know that a disk is not the agent's newest: it lacks
// what was acknowledged, or is another one.
func (a *agent) old(f found) bool {
	l, err := a.site.stored(a.site.hub.disk.Load()).Ledgers.Get(a.name)
	if err != nil {
		a.site.t.Fatal(err)
	}
	for leaf, head := range l.Acked {
		if head.Newer(f.heads[leaf]) && !strings.HasPrefix(leaf, "event/") {
			return true
		}
	}
	return l.Peer.Incarnation != f.incarnation || l.Acked["event/"+f.incarnation].Version > f.events
}

// open makes a driver that works for this run of the agent.
func (a *agent) open(target bmc.Target) (bmc.Driver, error) {
	return &driver{machine: a.site.machines[target.Server], agent: a, process: a.process}, nil
}

type transport func(topic string, payload []byte) error

func (t transport) Publish(topic string, payload []byte) error { return t(topic, payload) }

type anyCredentials struct{}

func (anyCredentials) Read(string) (bmc.Credentials, string, error) {
	return bmc.Credentials{}, "", nil
}

// allLocal finds every boot file in place already.
type allLocal struct{}

func (allLocal) Pull(context.Context, resource.Image) error { return nil }
