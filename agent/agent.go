package agent

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"rackboot/agent/account"
	"rackboot/agent/ask"
	"rackboot/agent/attemptlog"
	"rackboot/agent/boot"
	"rackboot/agent/discover"
	"rackboot/agent/files"
	"rackboot/agent/heartbeat"
	"rackboot/agent/link"
	"rackboot/agent/local"
	"rackboot/agent/reports"
	"rackboot/agent/server"
	"rackboot/agent/stream"
	"rackboot/agent/tpm"
	"rackboot/agent/trace"
	"rackboot/agent/trial"
	"rackboot/agent/upgrade"
	"rackboot/protocol/resource"
)

// Agent serves one rack. Make it with New, then call Run once.
type Agent struct {
	cfg   Config
	log   *slog.Logger
	store *guarded

	files   *files.Room
	boot    *boot.Room
	trial   *trial.Room
	reports *reports.Room
	met     *metrics

	link  *link.Room
	beats *heartbeat.Room
	index *index // what the boot servers serve

	local    *local.API
	accounts *account.Room
	ages     *ages
	streams  *stream.Room
	asks     *ask.Room
	upgrade  *upgrade.Room
	traces   *trace.Room

	servers *server.Room
	loops   *server.Loops
}

// New checks the configuration and reads the store; nothing is sent yet.
func New(cfg Config) (*Agent, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if cfg.ReportEvery == 0 {
		cfg.ReportEvery = resource.ReportEvery
	}
	attempts := attemptlog.New()
	a := &Agent{
		cfg: cfg, log: slog.New(attempts.Handler(cfg.Logger.Handler())).With("agent", cfg.Agent),
		loops: server.NewLoops(),
	}
	if cfg.Sessions != nil {
		cfg.Sessions.OnSave(a.loops.LoggedIn)
	}
	started, run := cfg.Clock(), a.random()
	guards, err := openGuard(cfg, a.random)
	if err != nil {
		return nil, err
	}
	st := guards.Store
	a.store, a.ages = guards, &ages{cfg.Clock, st.Servers, started, run}
	a.reports = reports.New(reports.Config{
		Agent: cfg.Agent, Rack: cfg.Rack, Run: run, Version: cfg.Version, Metrics: cfg.Metrics, Every: cfg.ReportEvery, Clock: cfg.Clock, Registerer: cfg.Registerer,
	})
	a.accounts = account.New(account.Config{Store: st.Accounts, Local: cfg.Credentials, Secrets: cfg.Secrets})
	a.store.begin(a)
	denied := account.NewDenials()
	a.traces = trace.New(trace.Config{Agent: cfg.Agent, Rack: cfg.Rack, Store: st.Traces, Servers: a.reports, Spans: cfg.Spans, Clock: cfg.Clock, Logger: a.log, Registerer: cfg.Registerer})
	if cfg.OpenBeat == nil {
		cfg.OpenBeat = heartbeat.Listen
	}
	a.beats = heartbeat.New(heartbeat.Config{
		Agent: cfg.Agent, Rack: cfg.Rack, Run: run, Signer: cfg.Signer, Lines: cfg.Beats, Open: cfg.OpenBeat, Twin: a.twin, Clock: cfg.Clock, Logger: a.log, Registerer: cfg.Registerer,
	})
	a.upgrade = upgrade.New(a.upgrades())
	a.link, err = link.New(link.Config{
		Capabilities: a.upgrade.Capabilities(), InStep: a.upgrade.InStep,
		Agent: cfg.Agent, Version: cfg.Version, Run: run, Guard: guards.guard.On, Lost: guards.onLost(), Host: cfg.Host, Addresses: cfg.Addresses, Place: cfg.Place, Store: st, Reports: a.reports, Signer: cfg.Signer, HubKeys: cfg.HubKeys, Secrets: cfg.Secrets,
		Approvals: cfg.Destructive.stance(), Heard: heard{a}, Beats: a.beats.Heard, Heartbeats: len(cfg.Beats) > 0, Every: cfg.ReportEvery, NewID: a.random, Clock: cfg.Clock, Logger: a.log, Registerer: cfg.Registerer,
	})
	if err != nil {
		return nil, err
	}
	mirrored := files.NewMirrored(cfg.Mirror, cfg.Clock)
	a.asks = ask.New(ask.Config{
		Accounts: a.accounts, Denied: denied, OpenBMC: cfg.OpenBMC, Hub: a.link, Traces: a.traces, Servers: a.loops, Mirror: mirrored, Clock: cfg.Clock, Logger: a.log, Registerer: cfg.Registerer,
	})
	entries := boot.NewIndex()
	a.files = files.New(files.Config{
		Store: st, Blobs: cfg.Blobs, Puller: cfg.Puller, UserData: cfg.UserData, Bundles: cfg.Bundles, ISOSource: cfg.ISOSource, Limits: cfg.ISOs, Mirror: cfg.Mirror,
		Folder: cfg.Files, Secrets: cfg.Secrets, Boots: entries, Servers: a.loops, Clock: cfg.Clock, Logger: a.log, Registerer: cfg.Registerer, Crash: cfg.Crash,
	})
	a.met = newMetrics(cfg.Registerer, a.reports, a.ages, guards.guard.On)
	a.local = a.newLocal()
	finder, err := discover.New(discover.Config{
		Leases: st.Leases4, Changed: a.reports.PokeFound, Interfaces: cfg.interfaces(), Dial: cfg.DialFound, Clock: cfg.Clock, Logger: a.log, Registerer: cfg.Registerer,
	})
	if err != nil {
		return nil, err
	}
	a.boot, err = boot.New(boot.Config{
		Agent: cfg.Agent, Segments: cfg.Segments, Loaders: cfg.Loaders, Certificates: cfg.Certificates, Guarded: len(cfg.Destructive.Keys) > 0,
		Index: entries, Store: st, Guard: guards.guard, Blobs: cfg.Blobs, Files: a.files, Reports: a.reports, Traces: a.traces, Servers: a.loops, Finder: finder,
		TPMs:  tpm.New(tpm.Config{TPMs: st.TPMs, Servers: st.Servers, Authorities: cfg.TPMAuthorities, Random: cfg.Random, Clock: cfg.Clock, Logger: a.log, Registerer: cfg.Registerer}),
		NewID: a.random, Clock: cfg.Clock, Logger: a.log, Registerer: cfg.Registerer, Crash: cfg.Crash,
	})
	if err != nil {
		return nil, err
	}
	a.index = &index{servers: st.Servers, boot: a.boot, finder: finder, files: a.files, mirrored: mirrored, log: a.log}
	a.streams = stream.New(stream.Config{Agent: cfg.Agent, Destination: a.boot, NewID: a.random, Logger: a.log, Registerer: cfg.Registerer})
	a.servers = server.New(server.Config{
		Agent: cfg.Agent, Run: run, Started: a.ages.started, Store: st, Guard: guards.guard, Accounts: a.accounts, Denied: denied, OpenBMC: cfg.OpenBMC, Signer: cfg.Signer, Bulk: cfg.Destructive.bulk(),
		Changes: account.NewChanges(account.ChangesConfig{
			Accounts: a.accounts, Store: st, Secrets: cfg.Secrets, OpenBMC: cfg.OpenBMC, Clock: cfg.Clock, Crash: cfg.Crash,
		}),
		Boot: a.boot, Files: a.files, Hub: a.link, Index: heard{a}, Reports: a.reports, Streams: a.streams, Traces: a.traces, Log: attempts,
		NewID: a.random, Clock: cfg.Clock, Crash: cfg.Crash, Logger: a.log, Registerer: cfg.Registerer,
	})
	a.trial = trial.New(trial.Config{Store: st.Trials, Reports: a.reports, Index: heard{a}, Window: cfg.TrialWindow, Clock: cfg.Clock, Logger: a.log})
	if err := errors.Join(a.trial.Resume(), a.index.read()); err != nil {
		return nil, err
	}
	return a, a.describeAll()
}

// Run serves until ctx ends. Listeners are open when ready is called. [rackboot/agent/upgrade.ErrTrial] is in the chain of its
// error when another release is to be tried.
func (a *Agent) Run(ctx context.Context, ready func()) error {
	socket, err := a.openSocket()
	if err != nil && !a.store.guard.Frozen() {
		return err
	}
	if err != nil { // to guard without a socket is better than not to guard
		a.log.Error("the agent has no socket", "err", err)
	}
	open, err := a.boot.Listen(a.streams.Hooks())
	if err != nil {
		return errors.Join(err, closeSocket(socket))
	}
	if err := a.beats.Listen(); err != nil && !a.store.guard.Frozen() { // who guards goes on trying
		return errors.Join(err, closeSocket(socket))
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return a.beats.Run(ctx) })
	a.loops.Begin(ctx, group, a.servers)
	group.Go(func() error { return a.index.finder.Run(ctx) })
	group.Go(func() error { return open.Run(ctx) })
	group.Go(func() error { return a.boot.Run(ctx) })
	group.Go(func() error { return a.serveSocket(ctx, socket) })
	group.Go(func() error { return a.store.run(ctx) })
	group.Go(func() error {
		a.files.Run(ctx)
		return nil
	})
	group.Go(func() error {
		a.reports.Run(ctx, a.index.finder, a.link)
		return nil
	})
	group.Go(func() error {
		a.traces.Run(ctx)
		return nil
	})
	group.Go(func() error {
		a.link.Run(ctx)
		return nil
	})
	group.Go(func() error {
		a.trial.Run(ctx)
		return nil
	})
	group.Go(func() error {
		a.asks.Run(ctx)
		return nil
	})
	group.Go(func() error { return a.upgrade.Run(ctx) })
	o, err := a.store.Servers.Overview()
	if err != nil {
		return err
	}
	for _, in := range o.Intents {
		a.loops.Wake(in.Server)
	}
	for _, h := range o.Holds { // also of servers that no document has named yet
		a.loops.Wake(h.Server)
	}
	ready()
	err = group.Wait()
	a.traces.End()
	if ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)) {
		return nil
	}
	return err
}

// lookAt has the loops of servers look, and starts those that are new. They are reported anew.
func (a *Agent) lookAt(servers []string) {
	a.loops.WakeAll(servers)
	a.reports.PokeAll()
}

// Fresh says that no hub has told the agent its rack yet: it has just joined, or its disk
// is empty.
func (a *Agent) Fresh() (bool, error) {
	o, err := a.store.Servers.Overview()
	return err == nil && !o.Synced && !o.Replaced && !o.Ended && !o.Standby, err
}

// describeAll puts what is on disk into the first report, before any BMC was read:
// a hub that has lost a hold finds it there.
func (a *Agent) describeAll() error {
	o, err := a.store.Servers.Overview()
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for _, in := range o.Intents {
		names[in.Server] = true
	}
	for _, h := range o.Holds {
		names[h.Server] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if err := a.servers.Tell(name); err != nil {
			return err
		}
	}
	return nil
}

// BootHosts are the hosts of the https boot URLs of the segments that are served. It
// is nil before the agent is made, and before it has heard of them.
func (a *Agent) BootHosts() (hosts []string) {
	if a == nil {
		return nil
	}
	return a.boot.BootHosts()
}

// random is 128 random bits in hex.
func (a *Agent) random() string {
	b := make([]byte, 16)
	if _, err := io.ReadFull(a.cfg.Random, b); err != nil {
		panic(fmt.Sprintf("no randomness: %v", err)) // nothing safe can be done without
	}
	return hex.EncodeToString(b)
}
