package store

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"rackboot/protocol"
	"rackboot/state"
)

// Keys that are aside are read and written by who needs them alone: they are not in the mirror,
// so that a write to one wakes nobody and makes no view of the fleet old.
// The keys of rules are many, and read by whoever changes who has them.
func aside(key string) bool {
	return key == probeKey || key == auditKey || strings.HasPrefix(key, ruleBucket+".")
}

// auditKey has the last entry of the audit log that is known to be in its file.
const auditKey = "audit.head"

// AuditHead is a log's last entry: its number and hash. Its Seq is 0 before the first.
type AuditHead struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
}

// AuditHead reads what was kept last of the audit log's head. The codes are unavailable, timeout
// and internal.
func (s *Store) AuditHead(ctx context.Context) (AuditHead, error) {
	h, _, err := s.auditHead(ctx)
	return h, err
}

func (s *Store) auditHead(ctx context.Context) (h AuditHead, revision uint64, err error) {
	const op = "read the audit log's head"
	e, err := s.kv.Get(ctx, auditKey)
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

// KeepAuditHead writes the audit log's head. The codes are unavailable, timeout and conflict.
func (s *Store) KeepAuditHead(ctx context.Context, h AuditHead) error {
	const op = "keep the audit log's head"
	if err := s.healthy(); err != nil {
		return err
	}
	raw, err := json.Marshal(h)
	if err != nil {
		return err
	}
	_, revision, err := s.auditHead(ctx)
	if err != nil {
		return err
	}
	if revision == 0 {
		_, err = s.kv.Create(ctx, auditKey, raw)
	} else {
		_, err = s.kv.Update(ctx, auditKey, raw, revision)
	}
	if err != nil {
		return stateError(op, err)
	}
	return nil
}
