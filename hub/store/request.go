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
