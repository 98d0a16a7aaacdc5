package api

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/api/gate"
	"rackboot/hub/store"
	"rackboot/state"
)

// Config is what the API needs. Authority, ClientCAs, Limits, Recorder, Logger, Ready,
// AuditLog and Writable may be left out.
type Config struct {
	Store *store.Store
	Rooms Rooms
	// Approver has the approvals of destructive actions; nil has none.
	Approver Approver
	// Token is the admin's bearer token, at least 16 bytes.
	Token string
	// Callers are the other callers.
	gate.Callers
	// Authority is the certificate of the hub's authority in PEM, for rackctl login.
	Authority []byte
	Limits    gate.Limits
	// Recorder keeps the audit log; nil is none.
	Recorder   gate.Recorder
	Clock      state.Clock
	NewID      func() string // ULIDs
	Registerer prometheus.Registerer
	Logger     *slog.Logger
	Version    string // of the hub, for the OpenAPI document
	// Idle reports whether another hub on the same store works off what is asked of many; nil is never.
	Idle func() bool
	// Under has what is written with a context expect that this hub does so; nil expects nothing.
	Under func(context.Context) context.Context
	// Vault encrypts Secrets; nil if this hub has none.
	Vault Vault
	// Ready says why the hub cannot do its work; nil error when it can. It is asked by
	// whoever asks, and bounds its own cost.
	Ready func(ctx context.Context) error
	// ISOs keeps uploaded files; nil keeps none.
	ISOs ISOs
	// AgentPackages keeps packages of agents; nil keeps none.
	AgentPackages AgentPackages
	// AuditLog is what the routes of the audit log read; nil is none.
	AuditLog AuditLog
	// AuditSite has the audit logs of all hubs that share the store; nil is that no other shares it.
	AuditSite AuditSite
	// Backups makes copies of the hub; nil makes none.
	Backups Backups
	// Support tells what the hub knows of itself; nil tells nothing.
	Support Support
	// Webhooks send events elsewhere; nil sends none.
	Webhooks Webhooks
	// Writable says why nothing may be changed now; nil error when it may.
	Writable func() error
}

// ISOs keeps uploaded files; see package iso. It is used concurrently.
type ISOs interface {
	ISOFiles
	Uploads
	ISOContents
}
