package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net"
	"sync/atomic"
	"time"
	_ "time/tzdata" // windows of roll-outs are in zones that the host may not have

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"rackboot/fdlimit"
	"rackboot/hub/api"
	"rackboot/hub/api/gate"
	"rackboot/hub/auditcopy"
	"rackboot/hub/checkpoint"
	"rackboot/hub/control"
	"rackboot/hub/fence"
	"rackboot/hub/intake"
	"rackboot/hub/pki"
	"rackboot/hub/store"
	"rackboot/hub/support"
	"rackboot/hub/web"
	"rackboot/internal/metrics"
	"rackboot/protocol"
	"rackboot/protocol/link"
	"rackboot/protocol/message"
	"rackboot/ready"
	"rackboot/state"
	"rackboot/state/clock"
	"rackboot/state/file"
	"rackboot/state/heads"
)

// Run serves until ctx ends, and a hub that shares its store then until another one has taken over, ten seconds at most.
func Run(ctx context.Context, c Config, o Options) error {
	var end ending
	ctx, stop := end.context(ctx)
	defer stop()
	lines, reg := &support.Lines{}, o.Registry
	log := slog.New(lines.Beside(o.Logger.Handler()))
	if reg == nil {
		reg = prometheus.NewRegistry()
	}
	keys, err := pki.Open(c.path("pki"), c.Names)
	if err != nil {
		return err
	}
	who, err := c.readCallers(keys.CAPEM(), nil)
	if err != nil {
		return err
	}
	if err := c.fits(keys); err != nil {
		return err
	}
	// People and agents need the authority's certificate, while it is being changed also the
	// next one's, and nothing else of pki/.
	if err := file.Replace(c.path(caCopy), keys.BundlePEM(), 0o644); err != nil {
		return err
	}
	var known atomic.Pointer[control.Control]
	b, err := openBroker(c, keys, func(agent string) bool {
		k := known.Load()
		return k != nil && k.Terms.Refused(agent)
	}, log, reg)
	if err != nil {
		return err
	}
	defer b.Close()
	vault := c.Secrets.vault(log, reg)
	at, err := c.openPlace(ctx, b, log, reg)
	if err != nil {
		return err
	}
	defer at.close()
	st, up, err := openStore(ctx, c, at, vault, log, o.Crash, false)
	if err != nil {
		return err
	}
	up.logs = copiesOf(c, at, keys, st, log)
	if err := reg.Register(auditcopy.Metrics(up.logs)); err != nil {
		return err
	}
	trail, err := openAudit(c, keys, st, up.was.Audit, up.logs, log, reg, o.Crash)
	if err != nil {
		return err
	}
	if up.logs != nil {
		up.logs.Start(trail)
		defer up.logs.Close() // once the log is closed, which waits for it
	}
	defer closeAudit(trail, log)
	defer up.heads.Close()
	for _, m := range []prometheus.Collector{up.heads, lostMetric(st)} {
		if err := reg.Register(m); err != nil {
			return err
		}
	}
	vault.Start(ctx, st.Secrets, st.Meta)
	written, err := ready.New(ready.Config{Logger: log, Registerer: reg, Probe: func(ctx context.Context) error {
		if err := at.healthy(); err != nil {
			return err
		}
		return st.Probe(ctx)
	}})
	if err != nil {
		return err
	}
	up.ending = &end
	h := &hub{keys: keys, broker: b, healthy: at.healthy, store: st, upkeep: up, written: written, vault: vault, audit: trail, callers: who, lines: lines, log: log, reg: reg, options: o}
	if h.upkeep.contents, err = h.openContents(c, at.bulk); err != nil {
		return err
	}
	isos, err := h.openISOs(c)
	if err != nil {
		return err
	}
	defer func() {
		if err := isos.Close(); err != nil {
			log.Error("uploads were not kept as far as they were", "err", err)
		}
	}()
	h.isos = isos
	h.file.Store(&c)
	up.rules.shelf.Store(isos)
	if h.registry, err = h.openRegistry(c, at.bulk.Conn != nil); err != nil {
		return err
	}
	h.upkeep.serve(isos, h.registry)
	if h.registry != nil {
		defer func() {
			if err := h.registry.Close(); err != nil {
				log.Error("the registry was not closed", "err", err)
			}
		}()
	}
	if err := h.connect(ctx, c); err != nil {
		return err
	}
	// Revoked agents may have connected since the broker listens; nothing was said to
	// them, and nobody has heard them.
	known.Store(h.control)
	if err := h.control.Members.CutRevoked(); err != nil {
		return err
	}
	return h.serve(ctx, c)
}

// openStore opens the store. One that has lost something is only read, unless
// somebody accepts that: then what is there is another store from now on.
func openStore(ctx context.Context, c Config, at place, vault store.Vault, log *slog.Logger, crash state.Crasher, accept bool) (*store.Store, upkeep, error) {
	at.streams.Crash = crash
	kv, facts, err := checkpoint.OpenStreams(ctx, at.streams)
	if err != nil {
		return nil, upkeep{}, err
	}
	if err := file.Sweep(c.DataDir); err != nil {
		return nil, upkeep{}, err
	}
	all := checkpoint.Streams{checkpoint.KVStream: kv, checkpoint.LogStream: facts}
	found, err := checkpoint.Look(ctx, c.path(headsFile), kv, all, c.served(), log)
	if err != nil {
		return nil, upkeep{}, err
	}
	listed := &store.Listed{Entries: found.Survey.Live, Revision: found.Survey.Revision}
	rules := newEnvRules()
	cfg := store.Config{KV: kv, Log: facts, Healthy: at.healthy, Clock: clock.Now, NewID: newID, Logger: log, Crash: crash, Vault: vault, CheckIgnition: checkIgnition, EnvRules: rules}
	switch {
	case accept:
		if err := kv.Drop(ctx, found.Survey.Unreadable); err != nil {
			return nil, upkeep{}, err
		}
	case found.Loss != nil:
		checkpoint.Tell(log, found.Loss)
		cfg.Lost, cfg.Listed = found.Loss, listed
	default:
		// What a hub began to remove that has died since goes before anything is read. Of what is listed it is nothing.
		if _, err := kv.Forget(ctx, time.Time{}); err != nil {
			return nil, upkeep{}, err
		}
		cfg.Listed = listed
	}
	st, err := store.Open(ctx, cfg)
	if err != nil {
		return nil, upkeep{}, err
	}
	id := ""
	if cfg.Lost == nil {
		if id, err = checkpoint.Identify(ctx, st, accept, newID); err != nil {
			return nil, upkeep{}, err
		}
	}
	k := checkpoint.New(checkpoint.Config{Path: c.path(headsFile), Streams: all, Store: st, ID: id, Logger: log}, found.Was)
	found.Was.Keys = nil // the store has them, and nobody asks for more
	up := upkeep{id: id, rules: rules, heads: k, was: found.Was, old: &old{kv: kv, clock: clock.Now, healthy: st.Meta.Writable, log: log}}
	if accept {
		up.gaveUp = found.Loss
	}
	up.copies = copies(kv, facts)
	return st, up, nil
}

// publishTimeout bounds how long one message may wait to be sent.
const publishTimeout = 5 * time.Second

func (h *hub) connect(ctx context.Context, c Config) error {
	imgs, err := newImages(c.Images, secrets{h.store.Objects, h.store.Secrets, h.vault}, h.registry, h.keys.BundlePEM())
	if err != nil {
		return err
	}
	to, err := c.route(h.keys, h.broker.Addr())
	if err != nil {
		return err
	}
	files, err := h.openBootFiles(c.Catalogue, h.isos)
	if err != nil {
		return err
	}
	policy, err := c.policy()
	if err != nil {
		return err
	}
	destructive, err := c.readDestructive()
	if err != nil {
		return err
	}
	cut := h.broker.Cut
	if c.Broker.URL != "" {
		cut = nil
	}
	if h.start, err = fence.Begin(ctx, h.store.Meta, clock.Now, h.log, rand.Text()); err != nil {
		return err
	}
	h.start.Follows(h.upkeep.heads.Checkpoint)
	standing := c.standing(h.keys, to)
	if err := h.share(ctx, c, standing.API[0]); err != nil {
		return err
	}
	h.control, err = control.New(ctx, control.Config{
		Start:    h.start,
		Standing: standing, Fingerprint: h.keys.Fingerprint(), CertificateLife: c.CertificateLife,
		PastKeys: h.keys.PastKeys(), Cut: cut,
		Store: h.store, Signer: h.keys.Signer(), Images: imgs, Issuer: h.keys, Vault: h.vault, Catalogue: files, Signatures: imgs, Audit: h.audit, CA: to.ca, Broker: to.agents, QoS: to.qos,
		Approvals: policy, Destructive: destructive, Files: h.isos, Programs: h.isos, ManagedBootImages: c.Features.ManagedBootImages, Version: h.options.Version, Trail: h.audit, Totals: c.MetricsTotalsOnly,
		Publish: func(topic string, payload []byte) error {
			ctx, cancel := context.WithTimeout(context.Background(), publishTimeout)
			defer cancel()
			return h.link.Publish(ctx, topic, payload)
		},
		Clock: clock.Now, NewID: newID, Random: rand.Reader, Logger: h.log, Registerer: h.reg, Crash: h.options.Crash,
	})
	if err != nil {
		return err
	}
	if h.intake, err = intake.New(h.control.Link, h.reg); err != nil {
		return err
	}
	h.link, err = link.New(link.Config{
		Broker: to.hub, TLS: to.tls, QoS: to.qos, Subscribe: []string{message.TopicAllUp},
		OnConnect: func(context.Context) { h.control.Link.Announce() }, OnMessage: h.intake.Put,
		MinBackoff: h.options.MaxBackoff / 5, MaxBackoff: h.options.MaxBackoff, Logger: h.log, Registerer: h.reg,
	})
	return err
}

// rooms are those that the API asks.
func rooms(c *control.Control, hubs api.Hubs) api.Rooms {
	return api.Rooms{
		Status: c.Status, Claims: c.Owners.Claims, Imports: c.Owners.Imports, Firmware: c.Outbound.Firmware, Plans: c.Outbound.Plans, Discovery: c.Owners.Discovery, Traces: c.Outbound.Trace, Mirrors: c.Outbound.Mirrors,
		Members: c.Members, Inventory: c.Inventory, Carried: c.Env, Groups: c.Groups, Rollouts: c.Rollouts, Upgrades: c.Outbound.Upgrades, Events: c.Events, Watches: c.Shown.Watches, Hubs: hubs,
	}
}

func (h *hub) serve(ctx context.Context, c Config) error {
	backups, err := h.openBackups(c)
	if err != nil {
		return err
	}
	h.upkeep.old.busy = backups.Running
	hooks, err := h.openWebhooks(c.Webhooks)
	if err != nil {
		return err
	}
	packs, err := h.openPackages(c)
	if err != nil {
		return err
	}
	var logs api.AuditSite
	if h.upkeep.logs != nil {
		logs = h.upkeep.logs
	}
	a, err := api.New(api.Config{
		Store: h.store, Rooms: rooms(h.control, h.upkeep.hubs), Approver: h.control.Approvals, Token: h.keys.AdminToken(), Callers: h.callers,
		Authority: h.keys.CAPEM(), Vault: h.vault,
		Limits:   gate.Limits{CallerPerSecond: c.Limits.CallerPerSecond, SourcePerSecond: c.Limits.SourcePerSecond, JoinPerSecond: c.Limits.JoinPerSecond},
		Recorder: h.audit, AuditLog: h.audit, AuditSite: logs, Backups: backups, Webhooks: hooks, ISOs: h.isos, AgentPackages: packs, Clock: clock.Now, NewID: newID, Registerer: h.reg,
		Logger: h.log, Version: h.options.Version, Idle: func() bool { return !h.worksSite() }, Under: h.underSite, Ready: h.ready, Writable: h.writable, Support: h.support(),
	})
	if err != nil {
		return err
	}
	front, err := web.New(web.Config{API: a, Callers: a.Gate(), Persons: persons(a.Gate()), Registerer: h.reg})
	if err != nil {
		return err
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.API)
	if err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, "open the API", "%w", err).WithHint("change api in the hub's file, or stop what uses the address")
	}
	reload, err := newReloader(c, h, a.Gate())
	if err != nil {
		_ = ln.Close() // nothing was accepted on it
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return reload.run(ctx) })
	if c.Metrics != "" {
		path, targets := h.control.Targets()
		if err := metrics.Serve(ctx, group, c.Metrics, h.reg, h.ready, h.log, metrics.Beside{Path: path, Serve: targets}); err != nil {
			_ = ln.Close() // nothing was accepted on it
			return err
		}
	}
	if err := h.serveRegistry(ctx, group, c, a.Gate()); err != nil {
		_ = ln.Close() // nothing was accepted on it
		return err
	}
	group.Go(func() error { return fdlimit.Watch(ctx, h.log, h.reg) })
	if h.store.Lost() == nil { // else nothing is written, and nothing is removed because nobody seems to need it
		h.works(ctx, group, c)
		group.Go(func() error { return hooks.Run(ctx) })
		group.Go(func() error { return a.Work(ctx) })
	}
	group.Go(func() error { return h.audit.Check(ctx) })
	group.Go(func() error { return backups.Run(ctx) })
	group.Go(func() error { return h.store.Run(ctx) })
	group.Go(func() error { return h.control.Shown.Watches.Run(ctx) })
	group.Go(func() error { return h.intake.Run(ctx) })
	group.Go(func() error { return h.link.Run(ctx) })
	group.Go(func() error { return a.ServeBehind(ctx, ln, h.keys.FollowingTLS(a.Gate().Authorities), front) })
	h.log.Info("serving", "api", ln.Addr(), "mqtt", h.broker.Addr(), "broker", c.Broker.URL, "token_file", h.keys.AdminTokenPath())
	h.options.Ready()
	err = group.Wait()
	if ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)) {
		return nil
	}
	return err
}

// works has a hub do what it does by itself: it makes documents, and removes what is old.
func (h *hub) works(ctx context.Context, group *errgroup.Group, c Config) {
	k := h.upkeep.heads
	k.Serve(h.start.Epoch(), func() heads.Entry {
		seq, hash := h.audit.Head()
		return heads.Entry{Seq: seq, Hash: hash}
	})
	group.Go(func() error { return k.Follow(ctx, h.healthy) })
	healthy := h.upkeep.old.healthy
	h.upkeep.old.healthy = func() error {
		if !h.worksSite() {
			return protocol.Errorf(protocol.CodeUnavailable, "look for what is old", "another hub does")
		}
		return healthy()
	}
	h.upkeep.old.events = c.Events.keeper(h.control.Events.Keep)
	group.Go(func() error { return h.upkeep.old.run(ctx) })
	group.Go(func() error { return h.vault.Run(ctx) })
	group.Go(func() error { return h.control.Run(ctx) })
	if h.upkeep.others != nil {
		group.Go(func() error { return h.upkeep.others.Run(ctx) })
	}
	group.Go(func() error { return h.isos.Run(ctx) })
	if h.upkeep.contents != nil {
		group.Go(func() error { return h.upkeep.contents.Run(ctx) })
	}
}

// ready says why the hub cannot do its work; nil if it can: it hears its agents, no other
// hub has taken over, and its store is written and read.
func (h *hub) ready(ctx context.Context) error {
	if !h.link.Connected() {
		return protocol.Errorf(protocol.CodeUnavailable, "serve", "not connected to the broker").
			WithHint("it connects again by itself; if it stays, look at the broker")
	}
	if err := h.start.Writable(); err != nil {
		return err
	}
	return h.written.Ready(ctx)
}

// writable says why nothing may be changed now; nil if it may. It does not wait.
func (h *hub) writable() error {
	if err := h.start.Writable(); err != nil {
		return err
	}
	return h.healthy()
}
