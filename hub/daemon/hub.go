package daemon

import (
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"rackboot/hub/api"
	"rackboot/hub/api/gate"
	"rackboot/hub/audit"
	"rackboot/hub/auditcopy"
	"rackboot/hub/backup"
	"rackboot/hub/broker"
	"rackboot/hub/checkpoint"
	"rackboot/hub/contents"
	"rackboot/hub/control"
	"rackboot/hub/fence"
	"rackboot/hub/intake"
	"rackboot/hub/iso"
	"rackboot/hub/pki"
	"rackboot/hub/secret"
	"rackboot/hub/sharing"
	"rackboot/hub/store"
	"rackboot/hub/support"
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
	// Reload says when File is to be read anew; nil is never. What comes while the file is being
	// read waits, and asks once more.
	Reload <-chan os.Signal
	// File is the path of the hub's file; it is needed with Reload.
	File string
	// Relog is told how the log is to be written from now on, after each file that was accepted; nil is nobody.
	Relog func(Logging)
	// Ready is called once the API and the broker listen.
	Ready func()
}

// hub is a hub being put together.
type hub struct {
	keys     *pki.PKI
	broker   *broker.Broker
	healthy  func() error // says why nothing can be written to the store
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
	callers  gate.Callers

	log     *slog.Logger
	lines   *support.Lines         // the last ones of log
	file    atomic.Pointer[Config] // as it is in force
	reg     metrics.Registry
	options Options
}

// upkeep is what follows what the store has, what takes out of it what is old, and what copies it.
type upkeep struct {
	id    string // of the store; empty where it has lost something
	heads *checkpoint.Keeper
	was   heads.Record // what was known of the store when it was opened
	// gaveUp is what it had lost, where somebody has accepted that; nil is nothing.
	gaveUp *heads.Loss
	old    *old
	rules  envRules
	copies []backup.Stream // how the store's streams are copied
	others *sharing.Room   // who works on it besides; nil of a hub that is alone
	logs   *auditcopy.Room // the audit logs of those; nil of a hub that is alone
	hubs   api.Hubs        // which there are
	ending *ending
	// contents keeps uploaded files on the servers of the store; nil without servers of the user's own.
	contents *contents.Room
}
