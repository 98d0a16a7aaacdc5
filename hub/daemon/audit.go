package daemon

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/audit"
	"rackboot/hub/pki"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/clock"
	"rackboot/state/file"
	"rackboot/state/heads"
)

// hubKeyFile has the public keys with which rackctl audit verify checks the log: the
// present one, and those before, which signed earlier parts.
const hubKeyFile = "hub.pub"

// auditHeads keeps the audit log's head in the hub's store. What was known beside the store counts if that is
// newer.
type auditHeads struct {
	meta   *store.Meta
	hub    string // its name among several
	beside heads.Entry
}

// AuditHead implements audit.Heads.
func (h auditHeads) AuditHead(ctx context.Context) (audit.Head, error) {
	head, err := h.meta.AuditHead(ctx, h.hub)
	if h.beside.Seq > head.Seq {
		return audit.Head(h.beside), err
	}
	return audit.Head(head), err
}

// KeepAuditHead implements audit.Heads.
func (h auditHeads) KeepAuditHead(ctx context.Context, head audit.Head) error {
	return h.meta.KeepAuditHead(ctx, h.hub, store.AuditHead(head))
}

// openAudit opens the audit log, and lays the key down that it is signed with.
func openAudit(c Config, keys *pki.PKI, st *store.Store, beside heads.Entry, log *slog.Logger, reg prometheus.Registerer, crash state.Crasher) (*audit.Log, error) {
	if err := writePublic(c, keys); err != nil {
		return nil, err
	}
	return audit.Open(audit.Config{Dir: c.path("audit"), Signer: keys.Signer(), Keys: keys.PastKeys(), Clock: clock.Now, Logger: log, Registerer: reg, Crash: crash, Heads: auditHeads{st.Meta, c.sharedName(), beside}})
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
func recordRestored(ctx context.Context, c Config, keys *pki.PKI, st *store.Store, beside heads.Entry, detail string) error {
	log := slog.New(slog.DiscardHandler)
	l, err := openAudit(c, keys, st, beside, log, prometheus.NewRegistry(), nil)
	if err != nil {
		return err
	}
	defer closeAudit(l, log)
	_, err = l.Append(ctx, protocol.AuditEntry{Caller: "hub", From: "hub", Op: "restored", Outcome: protocol.AuditAccepted, Detail: detail})
	return err
}
