package store

import (
	"context"
	"time"

	"rackboot/protocol"
)

const requestBucket = "request"

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
		return StoredRequest{}, protocol.Errorf(protocol.CodeInvalid, op, "the ref is longer than %d bytes", maxReason).
			WithHint("give a shorter one")
	}
	open := 0
	for _, old := range s.openRequests(reference(protocol.KindServer, r.Server)) {
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
	if r.NotAfter.IsZero() {
		return protocol.Errorf(protocol.CodeInvalid, "put request", "request %s has no notAfter", r.ID)
	}
	return s.requests.put(ctx, r.ID, &r)
}

// Requests lists all requests in the order of their ids, which is that of their
// creation. One that cannot be read is left out and logged.
func (s *Store) Requests() []StoredRequest {
	all := s.requests.list()
	out := make([]StoredRequest, 0, len(all))
	for _, r := range all {
		if r.ID != "" {
			out = append(out, *r)
		}
	}
	return out
}

// OpenRequests lists the requests that have not ended, as Requests does.
func (s *Store) OpenRequests() []StoredRequest { return s.openRequests(anyOpen) }

// OpenRequestsOf lists those of a rack.
func (s *Store) OpenRequestsOf(rack string) []StoredRequest {
	return s.openRequests(reference(protocol.KindRack, rack))
}

// OpenRequestsFor lists those that were made of a claim.
func (s *Store) OpenRequestsFor(claimUID string) []StoredRequest {
	return s.openRequests(claimed(claimUID))
}

func (s *Store) openRequests(key string) (out []StoredRequest) {
	for _, r := range s.requests.find(openRequests, key) {
		out = append(out, *r)
	}
	return out
}

// GetRequest returns one request; not_found if there is none, internal if it cannot be
// read.
func (s *Store) GetRequest(id string) (StoredRequest, error) {
	const op = "get request"
	var r *StoredRequest
	if validToken(id) {
		r = s.requests.peek(id)
	}
	switch {
	case r == nil:
		return StoredRequest{}, protocol.Errorf(protocol.CodeNotFound, op, "request %q does not exist", id).
			WithHint("requests are forgotten some time after they ended")
	case r.ID == "":
		return StoredRequest{}, protocol.Errorf(protocol.CodeInternal, op, "request %q cannot be read", id).
			WithHint("the hub's log says why")
	}
	return *r, nil
}

// RemoveRequest deletes a request; one that is gone already is no error. The
// codes are conflict, unavailable and timeout.
func (s *Store) RemoveRequest(ctx context.Context, id string) error {
	r := s.requests.peek(id)
	if r == nil {
		return nil
	}
	return s.requests.remove(ctx, id, r.Revision)
}

// requestBook's requests are without pointers: a copy of one is its reader's own.
func (s *Store) requestBook() *book[StoredRequest] {
	return &book[StoredRequest]{
		store: s, bucket: requestBucket, what: "request", decode: fromJSON[StoredRequest], encode: toJSON[StoredRequest],
		revision: func(v *StoredRequest) *uint64 { return &v.Revision },
	}
}
