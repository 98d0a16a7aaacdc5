package apitest

import (
	"context"
	"slices"
	"sync"

	"rackboot/protocol"
)

// Records is a hub/api/gate.Recorder in memory. It is safe for concurrent use.
type Records struct {
	mu      sync.Mutex
	entries []protocol.AuditEntry
	err     error
}

// Append implements Recorder.
func (r *Records) Append(_ context.Context, e protocol.AuditEntry) (protocol.AuditEntry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return e, r.err
	}
	e.Seq = uint64(len(r.entries) + 1)
	r.entries = append(r.entries, e)
	return e, nil
}

// Fail makes Append fail from now on; nil ends that.
func (r *Records) Fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

// Entries are those that were appended.
func (r *Records) Entries() []protocol.AuditEntry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.entries)
}
