package daemon

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"sync"

	"golang.org/x/sync/errgroup"

	"rackboot/agent"
	"rackboot/agent/guard"
	"rackboot/agent/installed"
	"rackboot/agent/secret"
	"rackboot/agent/store"
	"rackboot/agent/trace"
	"rackboot/bmc/redfish"
	"rackboot/internal/metrics"
	"rackboot/netboot/bootcert"
	"rackboot/netboot/mirror"
	"rackboot/protocol/wire"
	"rackboot/state/blob"
	"rackboot/state/clock"
)

// program makes the agent over a store, and anew over another when that one failed or there is
// one again.
type program struct {
	cfg    Config
	opts   Options
	log    *slog.Logger
	reg    metrics.Registry
	id     identity
	keep   *keeper
	guard  *guard.Guard
	stores *stores
	spans  trace.Spans // nil where they go nowhere

	ready sync.Once
	again bool // an agent was made before
}

// run serves until ctx ends.
func (p *program) run(ctx context.Context) error {
	for {
		s, err := p.stores.open(ctx)
		if err != nil || ctx.Err() != nil {
			return err
		}
		err = errors.Join(p.serve(ctx, s), p.stores.close(s))
		p.again = true
		var reverted *agent.RolledBackError
		switch {
		case errors.As(err, &reverted):
			p.log.Error("the store is an older copy of what it was; what was held is guarded until somebody accepts that", "err", err)
			p.stores.failed = p.stores.reverts(reverted)
		case errors.Is(err, errReopen):
		case errors.Is(err, agent.ErrStore):
			p.log.Error("the store has failed; the agent guards without it until it opens again", "err", err)
			p.stores.failed = err
		default:
			return err
		}
	}
}

// serve serves with one store.
func (p *program) serve(ctx context.Context, s opened) (err error) {
	reg := newLeased(p.reg)
	defer reg.end()
	parts, err := p.parts(s, reg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, parts.close()) }()
	r := &renewer{keep: p.keep, apis: p.cfg.Link.API, log: p.log, metrics: newRenewMetrics(reg), every: p.opts.LookEvery, news: make(chan string, 1)}
	if r.every == 0 {
		r.every = lookEvery
	}
	var a *agent.Agent
	if parts.certificates, err = p.certificates(s, func() []string { return a.BootHosts() }, reg); err != nil {
		return err
	}
	if a, err = p.build(s, parts, r.hear, reg); err != nil {
		if !s.frozen && p.guard.On() {
			err = errors.Join(agent.ErrStore, err)
		}
		return err
	}
	fresh, err := a.Fresh()
	if err != nil {
		return err
	}
	l, err := p.cfg.Link.dial(p.keep, a, haste{fresh: fresh && !s.frozen, again: p.again || s.frozen, waits: a.Waits()}, p.opts.MaxBackoff, p.log, reg)
	if err != nil {
		return err
	}
	r.agent, r.up = a, l.Connected
	group, ctx := errgroup.WithContext(ctx)
	if parts.certificates != nil {
		group.Go(func() error { return parts.certificates.Run(ctx) })
	}
	if parts.repositories != nil {
		group.Go(func() error { return parts.repositories.Run(ctx) })
	}
	if s.frozen {
		group.Go(func() error { return p.stores.retry(ctx) })
	} else if anchor := p.stores.anchor; anchor != nil {
		group.Go(func() error { return anchor.follow(ctx, a) })
	}
	group.Go(func() error {
		return a.Run(ctx, func() {
			group.Go(func() error { return l.Run(ctx) })
			group.Go(func() error { return r.run(ctx) })
			p.ready.Do(p.opts.Ready)
		})
	})
	return group.Wait()
}

// parts are what an agent has beside its store.
type parts struct {
	blobs        *blob.Store
	certificates *bootcert.Store
	repositories *mirror.Mirror // nil where none is named
	temporary    string         // a folder that goes with them
}

func (p *program) parts(s opened, reg *leased) (out *parts, err error) {
	out = &parts{}
	open := func(dir string) error {
		out.blobs, err = blob.Open(blob.Config{Dir: dir, Quota: p.cfg.Images.QuotaMiB << 20, MinFree: blobMinFree, Logger: p.log, Registerer: reg})
		return err
	}
	if err = open(p.cfg.path("blobs")); err != nil && s.frozen { // nothing is booted, so that any folder will do
		if out.temporary, err = os.MkdirTemp("", "rackboot-guard-"); err == nil {
			err = open(out.temporary)
		}
	}
	if err == nil && !s.frozen {
		out.repositories, err = p.cfg.Repositories.open(&p.cfg, p.log, reg)
	}
	if err != nil {
		return nil, errors.Join(err, out.close())
	}
	return out, nil
}

func (p *parts) close() error {
	var errs []error
	if p.repositories != nil {
		errs = append(errs, p.repositories.Close())
	}
	if p.blobs != nil {
		errs = append(errs, p.blobs.Close())
	}
	if p.temporary != "" {
		errs = append(errs, os.RemoveAll(p.temporary))
	}
	return errors.Join(errs...)
}

func (p *program) certificates(s opened, hosts func() []string, reg metrics.Registry) (*bootcert.Store, error) {
	if s.frozen {
		return nil, nil
	}
	return p.cfg.certificates(hosts, p.log, reg)
}

// build makes the agent. In guard mode without a store it has no segments: nothing is answered
// there.
func (p *program) build(s opened, parts *parts, news func(trust string), reg metrics.Registry) (*agent.Agent, error) {
	c, id, log := p.cfg, p.id, p.log
	options, err := c.Images.options(c.CredentialsDir, reg)
	if err != nil {
		return nil, err
	}
	key, err := sealKey(c.DataDir)
	if err != nil {
		return nil, err
	}
	keeper, err := secret.New(id.Answer.Agent, key)
	if err != nil {
		return nil, err
	}
	sessions := store.NewSessions(s.db, keeper)
	dialer, err := redfish.New(redfish.Config{Logger: log, Registerer: reg, Sessions: sessions})
	if err != nil {
		return nil, err
	}
	destructive, err := c.destructive(id)
	if err != nil {
		return nil, err
	}
	page, err := advertised(c.Metrics, c.MetricsAdvertise)
	if err != nil {
		return nil, err
	}
	beats, err := c.beats() // also in guard mode: who guards without its store lives
	if err != nil {
		return nil, err
	}
	vouching, err := tpmAuthorities(c.TPMAuthorities)
	if err != nil && !s.frozen {
		return nil, err
	}
	cfg := agent.Config{
		TPMAuthorities: vouching,
		Agent:          id.Answer.Agent, Rack: id.Answer.Rack, Standby: id.standby(), Beats: beats, Version: p.opts.Version, Metrics: page, DB: s.db, Guard: p.guard, Blobs: parts.blobs, Place: placeOf(c.DataDir), Host: hostName(), Addresses: hostAddresses(),
		Signer: wire.NewSigner(ed25519.NewKeyFromSeed(id.Key)), HubKeys: []ed25519.PublicKey{p.keep.now().Keys.Everyday}, Destructive: destructive, News: news,
		Credentials: &credentials{dir: c.CredentialsDir}, Secrets: keeper, OpenBMC: dialer.Open, Sessions: sessions, Puller: puller{parts.blobs, options, p.keep},
		Upgrades: agent.Upgrades{Keys: p.cfg.Upgrade.keys(log), Launched: p.opts.Launched, Dir: installed.Dir(c.DataDir)},
		UserData: hubAPI{p.keep, c.Link.API}, Bundles: hubAPI{p.keep, c.Link.API},
		ISOSource: isoSource{p.keep, c.Link.API}, ISOs: c.ISOs.limits(), Files: c.Files, Mirror: parts.repositories, Socket: c.LocalSocket(), Spans: p.spans,
		Clock: clock.Now, Random: rand.Reader, Logger: log, Registerer: reg,
	}
	if !s.frozen {
		if cfg.Segments, err = c.segments(); err != nil {
			return nil, err
		}
		cfg.Loaders = c.Loaders
	}
	if parts.certificates != nil {
		cfg.Certificates = parts.certificates
	}
	return agent.New(cfg)
}
