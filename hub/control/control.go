package control

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/semaphore"

	"rackboot/hub/approval"
	"rackboot/hub/approvals"
	"rackboot/hub/claims"
	"rackboot/hub/discovery"
	"rackboot/hub/dispatch"
	"rackboot/hub/env"
	"rackboot/hub/events"
	"rackboot/hub/exporter"
	"rackboot/hub/fence"
	"rackboot/hub/filing"
	"rackboot/hub/firmware"
	"rackboot/hub/grants"
	"rackboot/hub/groups"
	"rackboot/hub/holds"
	"rackboot/hub/images"
	"rackboot/hub/imports"
	"rackboot/hub/inventory"
	"rackboot/hub/link"
	"rackboot/hub/maintenance"
	"rackboot/hub/members"
	"rackboot/hub/mirrors"
	"rackboot/hub/reports"
	"rackboot/hub/requests"
	"rackboot/hub/revisions"
	"rackboot/hub/rollouts"
	"rackboot/hub/sealing"
	"rackboot/hub/status"
	"rackboot/hub/store"
	"rackboot/hub/terms"
	"rackboot/hub/trace"
	"rackboot/hub/upgrades"
	"rackboot/hub/view"
	"rackboot/hub/wake"
	"rackboot/hub/watch"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
	"rackboot/state"
)

// Config is everything that a Control is made of.
type Config struct {
	Store *store.Store
	// Start is this start of the hub.
	Start  *fence.Start
	Signer *wire.Signer
	Images images.Registry
	Issuer members.Issuer
	Vault  sealing.Vault // nil where no Secrets are used
	Files  env.Files     // nil where no uploaded files are kept
	// Programs says which programs of agents are here; nil where no uploaded files are kept.
	Programs upgrades.Files
	// Catalogue has the files of boot images; nil where there are none.
	Catalogue images.Files
	// Signatures judges OCI images of entries that want it; nil refuses those.
	Signatures images.Verifier
	// Audit keeps the audit log; nil is none. Trail reads it; nil reads nothing.
	Audit events.Recorder
	Trail groups.Trail
	// ManagedBootImages says that catalogues of boot images are followed where people have
	// opted in; without it every group keeps the image that it has.
	ManagedBootImages bool
	// Version is the hub's own. What a server has booted counts for one version.
	Version string
	// Publish sends to agents. What is lost is sent again.
	Publish func(topic string, payload []byte) error
	// CA is PEM of the broker's CA; Broker the URL that agents dial; QoS that of
	// their link, 0 or 1.
	CA     []byte
	Broker string
	QoS    byte
	// Approvals is who must grant what; Destructive the destructive key, nil without one.
	Approvals   approval.Policy
	Destructive *approval.Key
	// Standing is what agents are told to trust and where to dial.
	Standing api.Standing
	// Fingerprint is that of the certificate by which joining agents know the hub; empty
	// makes tokens without one.
	Fingerprint string
	// CertificateLife is how long an agent's certificate lives; 0 is 90 days.
	CertificateLife time.Duration
	// PastKeys are those that signed before Signer; what they signed and still counts is
	// signed again.
	PastKeys []ed25519.PublicKey
	// Cut ends an agent's connections at the hub's own broker; nil where agents use
	// another one.
	Cut func(agent string) (int, error)

	// Totals leaves out the metrics of single servers and claims.
	Totals bool

	Clock      state.Clock
	NewID      func() string // ULIDs
	Random     io.Reader
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	Crash      state.Crasher // nil in production
}

// Control has the turns of racks and of the site, and the rooms that take part in them.
type Control struct {
	cfg     Config
	fence   *fence.Start
	reports *reports.Mirror
	view    *view.Reader
	wake    *wake.Units

	Events    *events.Log
	Terms     *terms.Terms
	Link      *link.Room
	Members   *members.Room
	Inventory *inventory.Room
	Env       *env.Room
	Rollouts  *rollouts.Room
	Groups    *groups.Room
	Approvals *approvals.Room
	Owners    Owners
	Outbound  Outbound
	Status    *status.Room
	Shown     Shown
	boots     boots

	beside beside
}

// beside is what goes on at the same time.
type beside struct {
	// sharing is of the turns of racks together, and alone of what gives seats to roll-outs: that
	// counts what the racks spend.
	sharing *semaphore.Weighted
	// announces says that agents are to be asked for a Hello of which no session is known.
	announces atomic.Bool
}

// Shown are the rooms that tell others what is so, as it changes.
type Shown struct {
	Watches  *watch.Room
	exporter *exporter.Room
}

// Owners are the rooms of what wants servers, and moves along until it has one.
type Owners struct {
	Claims      *claims.Room
	Maintenance *maintenance.Room
	Discovery   *discovery.Room
	Imports     *imports.Room
}

// Outbound are the rooms of what agents are told and asked.
type Outbound struct {
	Requests *requests.Room
	Holds    *holds.Room
	Dispatch *dispatch.Room
	Firmware *firmware.Room
	Trace    *trace.Room
	Mirrors  *mirrors.Room
	Plans    *inventory.FirmwarePlans
	Upgrades *upgrades.Room
}

// boots are the rooms of what a boot configuration is made of: the image, the revision that has it,
// and the grant.
type boots struct {
	images    *images.Room
	grants    *grants.Room
	revisions *revisions.Room
}

// Of sharing each turn of a rack takes one, and what counts takes all.
const (
	shareOne = 1
	shareAll = 1 << 20
)

// New reads the epoch and the events from the store, and makes this start of the hub
// the newest on it.
func New(ctx context.Context, cfg Config) (*Control, error) {
	c := &Control{cfg: cfg, fence: cfg.Start, beside: beside{sharing: semaphore.NewWeighted(shareAll)}, reports: reports.New(), Terms: terms.New(cfg.Store, cfg.Signer, cfg.Logger, cfg.Crash)}
	began, seals, says := cfg.Clock(), sealing.NewCount(), &heard{}
	c.wake = wake.New(wake.Config{
		Store: cfg.Store, Turn: c.turn, HoldTurn: c.holdTurn, Logger: cfg.Logger,
	})
	var err error
	if c.Events, err = events.Open(ctx, events.Config{Store: cfg.Store, Start: cfg.Start, Audit: cfg.Audit, Clock: cfg.Clock, Logger: cfg.Logger, Crash: cfg.Crash}); err != nil {
		return nil, err
	}
	c.Link = link.New(link.Config{
		Store: cfg.Store, Start: cfg.Start, Signer: cfg.Signer, PastKeys: cfg.PastKeys, Trust: members.TrustOf(cfg.Standing), Terms: c.Terms, Events: c.Events, Reports: c.reports, Wake: c.wake, Heard: says,
		Publish: cfg.Publish, Clock: cfg.Clock, NewID: cfg.NewID, Random: cfg.Random, Logger: cfg.Logger, Crash: cfg.Crash,
	})
	c.Members = members.New(members.Config{
		Ledgers: cfg.Store.Ledgers, Meta: cfg.Store.Meta, Objects: cfg.Store.Objects, Signer: cfg.Signer, Issuer: cfg.Issuer, Terms: c.Terms, Events: c.Events, Link: c.Link, Wake: c.wake,
		CA: cfg.CA, Broker: cfg.Broker, QoS: cfg.QoS, Destructive: cfg.Destructive, Standing: cfg.Standing, Fingerprint: cfg.Fingerprint,
		Heard: c.reports.Agent, Left: c.left,
		Adopt: func(ctx context.Context, a *resource.Agent, s resource.ServerReport) error {
			return c.Outbound.Holds.Adopt(ctx, a, s)
		},
		CertificateLife: cfg.CertificateLife, Cut: cfg.Cut, Clock: cfg.Clock, NewID: cfg.NewID, Random: cfg.Random, Logger: cfg.Logger, Crash: cfg.Crash,
	})
	c.Inventory = inventory.New(inventory.Config{
		Store: cfg.Store, Link: c.Link, Reports: c.reports, Events: c.Events, Wake: c.wake, Vault: cfg.Vault, Seals: seals, Began: began,
		Clock: cfg.Clock, NewID: cfg.NewID, Logger: cfg.Logger, Crash: cfg.Crash,
	})
	c.boots.images = images.New(images.Config{
		BootImages: cfg.Store.BootImages, Objects: cfg.Store.Objects, Registry: cfg.Images, Files: cfg.Catalogue, Verifier: cfg.Signatures, Events: c.Events, Wake: c.wake, Clock: cfg.Clock, Crash: cfg.Crash,
	})
	c.Env = env.New(env.Config{
		Store: cfg.Store, Vault: cfg.Vault, Seals: seals, Images: c.boots.images, Terms: c.Terms, Link: c.Link, Events: c.Events, Files: cfg.Files, Logger: cfg.Logger, Crash: cfg.Crash,
	})
	c.boots.grants = grants.New(grants.Config{
		Objects: cfg.Store.Objects, Signer: cfg.Signer, PastKeys: cfg.PastKeys, Link: c.Link, Events: c.Events,
		Clock: cfg.Clock, NewID: cfg.NewID, Logger: cfg.Logger, Crash: cfg.Crash,
	})
	if c.boots.revisions, err = revisions.New(ctx, revisions.Config{
		Meta: cfg.Store.Meta, Objects: cfg.Store.Objects, Secrets: cfg.Store.Secrets, Images: c.boots.images, Env: c.Env, Events: c.Events, Version: cfg.Version, Clock: cfg.Clock, Logger: cfg.Logger, Crash: cfg.Crash,
	}); err != nil {
		return nil, err
	}
	c.Rollouts = rollouts.New(rollouts.Config{
		Approvals: cfg.Store.Approvals, Objects: cfg.Store.Objects, Requests: cfg.Store.Requests, Revisions: c.boots.revisions, Grants: c.boots.grants, Inventory: c.Inventory, Reports: c.reports, Wake: c.wake,
		Clock: cfg.Clock, Logger: cfg.Logger, Crash: cfg.Crash,
	})
	c.Groups = groups.New(groups.Config{
		Objects: cfg.Store.Objects, Secrets: cfg.Store.Secrets, Sets: cfg.Store.Sets, Revisions: c.boots.revisions, Rollouts: c.Rollouts, Images: c.boots.images, Env: c.Env, Events: c.Events, Wake: c.wake,
		Trail: cfg.Trail, ManagedBootImages: cfg.ManagedBootImages, Clock: cfg.Clock, Logger: cfg.Logger, Crash: cfg.Crash,
	})
	c.Approvals = approvals.New(approvals.Config{
		Store: cfg.Store, Policy: cfg.Approvals, Destructive: cfg.Destructive, Link: c.Link, Rollouts: c.Rollouts, Reports: c.reports, Events: c.Events, Wake: c.wake,
		Began: began, Clock: cfg.Clock, NewID: cfg.NewID, Logger: cfg.Logger, Crash: cfg.Crash,
	})
	c.owners(began)
	*says = heard{
		inventory: c.Inventory, requests: c.Outbound.Requests, holds: c.Outbound.Holds,
		filing: filing.New(filing.Config{Log: cfg.Store.Log, Objects: cfg.Store.Objects, Link: c.Link, Reports: c.reports, Crash: cfg.Crash}),
	}
	c.Status = status.New(status.Config{
		Inventories: cfg.Store.Inventories, Ledgers: cfg.Store.Ledgers, Objects: cfg.Store.Objects, Start: cfg.Start, View: c.view, Reports: c.reports, Terms: c.Terms, Link: c.Link, Inventory: c.Inventory, Images: c.boots.images, Env: c.Env, Revisions: c.boots.revisions, Groups: c.Groups, Upgrades: c.Outbound.Upgrades,
		Approvals: c.Approvals, Claims: c.Owners.Claims, Maintenance: c.Owners.Maintenance, Discovery: c.Owners.Discovery, Began: began, Version: cfg.Version, Clock: cfg.Clock,
	})
	c.Shown.exporter = exporter.New(exporter.Config{
		Store: cfg.Store, Start: cfg.Start, View: c.view, Status: c.Status, Reports: c.reports, Inventory: c.Inventory, Approvals: c.Approvals, Claims: c.Owners.Claims,
		Totals: cfg.Totals, Began: began, Clock: cfg.Clock,
	})
	c.Shown.Watches = watch.New(watch.Config{Store: cfg.Store, Status: c.Status, Run: rand.Text(), Registerer: cfg.Registerer, Logger: cfg.Logger})
	says.exporter, says.watches = c.Shown.exporter, c.Shown.Watches
	cfg.Registerer.MustRegister(cfg.Store.Haste, c.Shown.exporter, c.Outbound.Holds, c.Owners.Discovery, c.Link, c.Events, c.Members, c.wake, c.boots.images, seals, c.Env, c.boots.revisions, c.Rollouts, c.Groups, c.Outbound.Upgrades)
	return c, nil
}

// Targets is the page that lists the metrics pages of agents, and its path beside the hub's own.
func (c *Control) Targets() (path string, serve http.HandlerFunc) {
	return exporter.TargetsPath, c.Shown.exporter.ServeTargets
}

// owners makes the rooms that move along what wants servers, and what becomes of it at the agents.
func (c *Control) owners(began time.Time) {
	cfg := c.cfg
	c.view = view.New(view.Config{Store: cfg.Store, Reports: c.reports, Link: c.Link, Inventory: c.Inventory, Env: c.Env, Revisions: c.boots.revisions, Clock: cfg.Clock})
	c.Outbound.Requests = requests.New(requests.Config{Requests: cfg.Store.Requests, Reports: c.reports, Began: began, Clock: cfg.Clock})
	c.Outbound.Dispatch = dispatch.New(dispatch.Config{Ledgers: cfg.Store.Ledgers, Objects: cfg.Store.Objects, Start: cfg.Start, Link: c.Link, Requests: c.Outbound.Requests, Clock: cfg.Clock, Crash: cfg.Crash})
	c.Outbound.Holds = holds.New(holds.Config{
		Store: cfg.Store, Start: cfg.Start, Link: c.Link, Reports: c.reports, Approvals: c.Approvals, Events: c.Events, Wake: c.wake, Began: began,
		Clock: cfg.Clock, Logger: cfg.Logger, Crash: cfg.Crash,
	})
	c.Owners.Claims = claims.New(claims.Config{
		Claims: cfg.Store.Claims, Objects: cfg.Store.Objects, View: c.view, Inventory: c.Inventory, Images: c.boots.images, Env: c.Env, Grants: c.boots.grants, Revisions: c.boots.revisions, Approvals: c.Approvals, Requests: c.Outbound.Requests, Events: c.Events, Wake: c.wake,
		Clock: cfg.Clock, NewID: cfg.NewID, Logger: cfg.Logger, Crash: cfg.Crash,
	})
	c.Owners.Maintenance = maintenance.New(maintenance.Config{
		Objects: cfg.Store.Objects, Inventory: c.Inventory, Images: c.boots.images, Env: c.Env, Grants: c.boots.grants, Revisions: c.boots.revisions, Approvals: c.Approvals, Events: c.Events,
		Clock: cfg.Clock, Crash: cfg.Crash,
	})
	c.Owners.Discovery = discovery.New(discovery.Config{
		Claims: cfg.Store.Claims, Maintenances: cfg.Store.Maintenances, Objects: cfg.Store.Objects, View: c.view, Images: c.boots.images, Env: c.Env, Grants: c.boots.grants, Revisions: c.boots.revisions, Events: c.Events,
		Clock: cfg.Clock, NewID: cfg.NewID, Logger: cfg.Logger, Crash: cfg.Crash,
	})
	c.Outbound.Firmware = firmware.New(firmware.Config{Objects: cfg.Store.Objects, Events: c.Events, Wake: c.wake, Clock: cfg.Clock, Logger: cfg.Logger, Crash: cfg.Crash})
	c.Owners.Imports = imports.New(imports.Config{Objects: cfg.Store.Objects, Sets: cfg.Store.Sets, Claims: c.Owners.Claims, Groups: c.Groups, Wake: c.wake, Clock: cfg.Clock})
	c.Outbound.Trace = trace.New(trace.Config{Objects: cfg.Store.Objects, Link: c.Link})
	c.Outbound.Plans = inventory.NewFirmwarePlans(c.Inventory)
	c.Outbound.Upgrades = upgrades.New(upgrades.Config{
		Objects: cfg.Store.Objects, Packages: cfg.Store.AgentPackages, Ledgers: cfg.Store.Ledgers, Reports: c.reports, Files: cfg.Programs, Events: c.Events, Idle: func() bool { return !c.fence.Works(fence.Site) },
		Clock: cfg.Clock, Logger: cfg.Logger, Crash: cfg.Crash,
	})
	c.Outbound.Mirrors = mirrors.New(mirrors.Config{Objects: cfg.Store.Objects, Link: c.Link})
}

// tickPause is how often it is looked at what is due.
const tickPause = time.Second

// Run works until ctx ends.
func (c *Control) Run(ctx context.Context) error {
	deltas, stop := c.cfg.Store.Deltas()
	defer stop()
	var lanes sync.WaitGroup
	for _, lane := range []func(context.Context){
		c.boots.images.Run, func(ctx context.Context) { c.Outbound.Upgrades.Run(c.fence.Under(ctx, fence.Site)) }, c.wake.Racks.Run, c.wake.Holds.Run, c.wake.Sweep,
		func(ctx context.Context) { c.wake.Follow(ctx, deltas) },
	} {
		lanes.Go(func() { lane(ctx) })
	}
	c.wake.All()
	tick := time.NewTicker(tickPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			lanes.Wait()
			return nil
		case <-tick.C:
			c.tick()
		}
	}
}

// tick sends what is due.
func (c *Control) tick() {
	if c.fence.Overtaken() {
		return
	}
	c.shared()
	now := c.cfg.Clock()
	c.Link.Tick(now)
	c.Inventory.Read(now)
	c.Outbound.Firmware.Due(now)
	c.Approvals.Due(now)
	c.Groups.Due(now)
}
