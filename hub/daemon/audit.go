package daemon

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/audit"
	"rackboot/hub/auditcopy"
	"rackboot/hub/pki"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/auditlog"
	"rackboot/state"
	"rackboot/state/clock"
	"rackboot/state/file"
	"rackboot/state/heads"
	"rackboot/state/jetstream"
)

// hubKeyFile has the public keys with which rackctl audit verify checks the log: the
// present one, and those before, which signed earlier parts.
const hubKeyFile = "hub.pub"

// auditStream has copies of the audit logs of hubs that share a store, beside the store's streams.
const auditStream = "rackboot-audit"

// auditHeads keeps the audit log's head in the hub's store. What was known beside the store, or is in the copy of the log, counts if
// that is newer.
type auditHeads struct {
	meta   *store.Meta
	hub    string // its name among several
	beside heads.Entry
	copies *auditcopy.Room // nil of a hub that is alone
	log    *slog.Logger
}

// AuditHead implements audit.Heads.
func (h auditHeads) AuditHead(ctx context.Context) (audit.Head, error) {
	kept, err := h.meta.AuditHead(ctx, h.hub)
	head := audit.Head(kept)
	if h.beside.Seq > head.Seq {
		head = audit.Head(h.beside)
	}
	if h.copies == nil || err != nil {
		return head, err
	}
	end, err := h.copies.End(ctx)
	if err != nil {
		h.log.Warn("the copy of the audit log cannot be read; what is lost is known by the store alone", "err", err)
	}
	if end.Seq > head.Seq {
		head = audit.Head{Seq: end.Seq, Hash: end.Hash}
	}
	return head, nil
}

// KeepAuditHead implements audit.Heads. What other hubs learn of a log is in its copy, unless that has stopped.
func (h auditHeads) KeepAuditHead(ctx context.Context, head audit.Head) error {
	if h.copies != nil {
		if err := h.copies.Follow(ctx, head.Seq); err != nil {
			return err
		}
	}
	return h.meta.KeepAuditHead(ctx, h.hub, store.AuditHead(head))
}

// openAudit opens the audit log, and lays the key down that it is signed with. copies has it copied; nil is that no other hub
// shares the store.
func openAudit(c Config, keys *pki.PKI, st *store.Store, beside heads.Entry, copies *auditcopy.Room, log *slog.Logger, reg prometheus.Registerer, crash state.Crasher) (*audit.Log, error) {
	if err := writePublic(c, keys); err != nil {
		return nil, err
	}
	cfg := audit.Config{Dir: c.path("audit"), Signer: keys.Signer(), Keys: keys.PastKeys(), Clock: clock.Now, Logger: log, Registerer: reg, Crash: crash, Hub: c.sharedName(), Heads: auditHeads{st.Meta, c.sharedName(), beside, copies, log}}
	if copies != nil {
		cfg.Others = copies.Others
	}
	return audit.Open(cfg)
}

// copiesOf are the audit logs of the hubs that share the store; nil of a hub that is alone.
func copiesOf(c Config, at place, keys *pki.PKI, st *store.Store, log *slog.Logger) *auditcopy.Room {
	if !c.shares() {
		return nil
	}
	streams := at.streams
	streams.Name = auditStream
	return auditcopy.New(auditcopy.Config{
		Hub:  c.sharedName(),
		Open: func(ctx context.Context) (auditcopy.Journal, error) { return openJournal(ctx, streams) },
		Head: func(ctx context.Context, hub string) (auditlog.Head, error) {
			h, err := st.Meta.AuditHead(ctx, hub)
			return auditlog.Head{Hub: hub, Seq: h.Seq, Hash: h.Hash}, err
		},
		Hubs: func() (names []string) {
			for _, h := range st.Hubs.List() {
				names = append(names, h.Name)
			}
			return names
		},
		Signer: keys.Signer(), Clock: clock.Now, Logger: log,
	})
}

// openJournal gives no stream where there is an error.
func openJournal(ctx context.Context, streams jetstream.Config) (auditcopy.Journal, error) {
	j, err := jetstream.OpenJournal(ctx, streams)
	if err != nil {
		return nil, err
	}
	return j, nil
}

// writePublic lays down the keys that the log was signed with.
func writePublic(c Config, keys *pki.PKI) error {
	var text []byte
	for _, k := range append([]ed25519.PublicKey{keys.Signer().Public()}, keys.PastKeys()...) {
		der, err := x509.MarshalPKIXPublicKey(k)
		if err != nil {
			return err
		}
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})...)
	}
	return file.Replace(c.path(hubKeyFile), text, 0o644)
}

// closeAudit signs the log to its end.
func closeAudit(l *audit.Log, log *slog.Logger) {
	if err := l.Close(); err != nil {
		log.Warn("audit log not closed", "err", err)
	}
}

// recordRestored notes that the hub's folder was put back from a copy.
func recordRestored(ctx context.Context, c Config, keys *pki.PKI, st *store.Store, beside heads.Entry, copies *auditcopy.Room, detail string) error {
	log := slog.New(slog.DiscardHandler)
	l, err := openAudit(c, keys, st, beside, copies, log, prometheus.NewRegistry(), nil)
	if err != nil {
		return err
	}
	defer closeAudit(l, log)
	_, err = l.Append(ctx, protocol.AuditEntry{Caller: "hub", From: "hub", Op: "restored", Outcome: protocol.AuditAccepted, Detail: detail})
	return err
}
