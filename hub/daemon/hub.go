package daemon

import (
	"crypto/x509"
	"log/slog"
	"time"

	"rackboot/hub/api/gate"
	"rackboot/hub/audit"
	"rackboot/hub/backup"
	"rackboot/hub/broker"
	"rackboot/hub/checkpoint"
	"rackboot/hub/control"
	"rackboot/hub/fence"
	"rackboot/hub/intake"
	"rackboot/hub/iso"
	"rackboot/hub/pki"
	"rackboot/hub/secret"
	"rackboot/hub/store"
	"rackboot/internal/metrics"
	"rackboot/protocol/link"
	"rackboot/ready"
	"rackboot/state"
	"rackboot/state/heads"
)

// Options are what Run takes besides the file.
type Options struct {
	Version string
	Logger  *slog.Logger
	// Registry takes the metrics; nil is a new one.
	Registry metrics.Registry
	Crash    state.Crasher // nil in production
	// MaxBackoff bounds the pause between two connections to the broker; 0 is the
	// link's default.
	MaxBackoff time.Duration
	// Ready is called once the API and the broker listen.
	Ready func()
}

// hub is a hub being put together.
type hub struct {
	keys     *pki.PKI
	broker   *broker.Broker
	store    *store.Store
	upkeep   upkeep
	written  *ready.Check // the store
	vault    *secret.Vault
	audit    *audit.Log
	start    *fence.Start
	control  *control.Control
	isos     *iso.Shelf
	registry *ownRegistry // nil without one
	intake   *intake.Intake
	link     *link.Link
	clients  []gate.Client

	authorities []*x509.Certificate // of clients

	log     *slog.Logger
	reg     metrics.Registry
	options Options
}

// upkeep is what follows what the store has, what takes out of it what is old, and what copies it.
type upkeep struct {
	heads *checkpoint.Keeper
	was   heads.Record // what was known of the store when it was opened
	// gaveUp is what it had lost, where somebody has accepted that; nil is nothing.
	gaveUp *heads.Loss
	old    *old
	rules  envRules
	copies []backup.Stream // how the store's streams are copied
}
