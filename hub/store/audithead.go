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

// AuditHead reads what was kept last of the audit log's head. The codes are unavailable, timeout
// and internal.
func (m *Meta) AuditHead(ctx context.Context) (AuditHead, error) {
	h, _, err := m.auditHead(ctx)
	return h, err
}

func (m *Meta) auditHead(ctx context.Context) (h AuditHead, revision uint64, err error) {
	const op = "read the audit log's head"
	e, err := m.core.kv.Get(ctx, auditKey)
	if errors.Is(err, state.ErrNotFound) {
		return h, 0, nil
	}
	if err != nil {
		return h, 0, stateError(op, err)
	}
	if err := json.Unmarshal(e.Value, &h); err != nil {
		return h, 0, protocol.Errorf(protocol.CodeInternal, op, "%s: %w", auditKey, err)
	}
	return h, e.Revision, nil
}

// AuditHeadOf is the head that a listed entry has; false for another entry, or one that cannot be read.
func AuditHeadOf(e state.Entry) (h AuditHead, ok bool) {
	return h, e.Key == auditKey && json.Unmarshal(e.Value, &h) == nil
}

// KeepAuditHead writes the audit log's head. The codes are unavailable, timeout and conflict.
func (m *Meta) KeepAuditHead(ctx context.Context, h AuditHead) error {
	const op = "keep the audit log's head"
	if err := m.core.healthy(); err != nil {
		return err
	}
	raw, err := json.Marshal(h)
	if err != nil {
		return err
	}
	_, revision, err := m.auditHead(ctx)
	if err != nil {
		return err
	}
	if revision == 0 {
		_, err = m.core.kv.Create(ctx, auditKey, raw)
	} else {
		_, err = m.core.kv.Update(ctx, auditKey, raw, revision)
	}
	if err != nil {
		return stateError(op, err)
	}
	return nil
}
