package store

import (
	"context"
	"encoding/json"
	"errors"

	"rackboot/protocol"
	"rackboot/state"
)

// AuditHead is a log's last entry: its number and hash. Its Seq is 0 before the first.
type AuditHead struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
}

// AuditHead reads what was kept last of the head of a hub's audit log; hub is the name of one of several that share the
// store, each of which has a log of its own, and empty for one that is alone. The codes are unavailable, timeout and
// internal.
func (m *Meta) AuditHead(ctx context.Context, hub string) (AuditHead, error) {
	h, _, err := m.auditHead(ctx, auditKeyOf(hub))
	return h, err
}

func auditKeyOf(hub string) string {
	if hub == "" {
		return auditKey
	}
	return auditKey + "." + hub
}

func (m *Meta) auditHead(ctx context.Context, key string) (h AuditHead, revision uint64, err error) {
	const op = "read the audit log's head"
	e, err := m.core.kv.Get(ctx, key)
	if errors.Is(err, state.ErrNotFound) {
		return h, 0, nil
	}
	if err != nil {
		return h, 0, stateError(op, err)
	}
	if err := json.Unmarshal(e.Value, &h); err != nil {
		return h, 0, protocol.Errorf(protocol.CodeInternal, op, "%s: %w", key, err)
	}
	return h, e.Revision, nil
}

// AuditHeadOf is the head of a hub's log that a listed entry has; false for another entry, or one that cannot be read.
func AuditHeadOf(e state.Entry, hub string) (h AuditHead, ok bool) {
	return h, e.Key == auditKeyOf(hub) && json.Unmarshal(e.Value, &h) == nil
}

// KeepAuditHead writes the head of a hub's audit log, as AuditHead names it. The codes are unavailable, timeout and conflict.
func (m *Meta) KeepAuditHead(ctx context.Context, hub string, h AuditHead) error {
	const op = "keep the audit log's head"
	if err := m.core.healthy(); err != nil {
		return err
	}
	raw, err := json.Marshal(h)
	if err != nil {
		return err
	}
	_, revision, err := m.auditHead(ctx, auditKeyOf(hub))
	if err != nil {
		return err
	}
	if revision == 0 {
		_, err = m.core.kv.Create(ctx, auditKeyOf(hub), raw)
	} else {
		_, err = m.core.kv.Update(ctx, auditKeyOf(hub), raw, revision)
	}
	if err != nil {
		return stateError(op, err)
	}
	return nil
}
