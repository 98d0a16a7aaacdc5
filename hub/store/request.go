package store

import (
	"context"
	"encoding/json"
	"time"

	"rackboot/protocol"
)

// StoredRequest is a one-shot request with what the hub knows of it.
type StoredRequest struct {
	protocol.Request
	Rack string `json:"rack"` // of the server, when it was accepted
	// Report is the agent's last word; pending until there is one.
	Report    protocol.RequestReport `json:"report"`
	CreatedAt time.Time              `json:"createdAt"`
	Revision  uint64                 `json:"-"` // for compare-and-set; 0 creates
}

// maxOpen bounds the requests of one server that have not ended: those behind a hold
// wait for as long as it lies.
const maxOpen = 32

// CreateRequest accepts a request under its id, which is new. One with a Ref is the
// same as one of the same caller, for the same server and action, that has not ended,
// and that one is returned. The codes are invalid, conflict (too many have not ended),
// unavailable and timeout.
func (s *Store) CreateRequest(ctx context.Context, r StoredRequest) (StoredRequest, error) {
	const op = "request"
	unlock, err := s.holdLock.acquire(ctx, op)
	if err != nil {
		return StoredRequest{}, err
	}
	defer unlock()
	if len(r.Ref) > maxReason {
		return StoredRequest{}, protocol.Errorf(protocol.CodeInvalid, op, "the ref is longer than %d bytes", maxReason)
	}
	open := 0
	for _, old := range s.Requests() {
		if old.Server != r.Server || old.Report.Outcome != protocol.OutcomePending {
			continue
		}
		open++
		if r.Ref != "" && old.Ref == r.Ref && old.By == r.By && old.Action == r.Action {
			return old, nil
		}
	}
	if open >= maxOpen {
		return StoredRequest{}, protocol.Errorf(protocol.CodeConflict, op, "%d requests for server %q have not ended", open, r.Server).
			WithHint("one reboot serves all that wait; see rackctl describe server %s, and give a --ref so that the same again is the same", r.Server)
	}
	if err := s.roomForRequest(op, r); err != nil {
		return StoredRequest{}, err
	}
	r.Revision = 0
	return r, s.PutRequest(ctx, r)
}

// PutRequest writes a request: compare-and-set on its revision. The codes are
// invalid, conflict, unavailable and timeout.
func (s *Store) PutRequest(ctx context.Context, r StoredRequest) error {
	const op = "put request"
	switch {
	case !validToken(r.ID):
		return protocol.Errorf(protocol.CodeInvalid, op, "%q is not a request id", r.ID)
	case r.NotAfter.IsZero():
		return protocol.Errorf(protocol.CodeInvalid, op, "request %s has no notAfter", r.ID)
	}
	value, err := json.Marshal(r)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	if _, err := s.put(ctx, "request."+r.ID, value, r.Revision); err != nil {
		return stateError(op, err)
	}
	return nil
}

// Requests lists all requests in the order of their ids, which is that of their
// creation. One that cannot be read is left out and logged.
func (s *Store) Requests() []StoredRequest {
	var out []StoredRequest
	for _, e := range s.mirror.list("request") {
		r, err := decodeRequest(e.Value, e.Revision)
		if err != nil {
			s.logger.Error("stored request cannot be read", "key", e.Key, "err", err)
			continue
		}
		out = append(out, r)
	}
	return out
}

// GetRequest returns one request; not_found if there is none.
func (s *Store) GetRequest(id string) (StoredRequest, error) {
	e, ok := s.mirror.get("request." + id)
	if !ok || !validToken(id) {
		return StoredRequest{}, protocol.Errorf(protocol.CodeNotFound, "get request", "request %q does not exist", id).
			WithHint("requests are forgotten some time after they ended")
	}
	return decodeRequest(e.Value, e.Revision)
}

// RemoveRequest deletes a request; one that is gone already is no error. The
// codes are conflict, unavailable and timeout.
func (s *Store) RemoveRequest(ctx context.Context, id string) error {
	e, ok := s.mirror.get("request." + id)
	if !ok {
		return nil
	}
	if err := s.remove(ctx, e.Key, e.Revision); err != nil {
		return stateError("remove request", err)
	}
	return nil
}

func decodeRequest(value []byte, revision uint64) (r StoredRequest, err error) {
	if err := json.Unmarshal(value, &r); err != nil {
		return r, protocol.Errorf(protocol.CodeInternal, "read request", "%w", err)
	}
	r.Revision = revision
	return r, nil
}
