package store

import (
	"context"

	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// maxOpen bounds the requests of one server that have not ended: those behind a hold
// wait for as long as it lies. Two hubs that write at once may pass it by what each has under way.
const maxOpen = 32

// CreateRequest accepts a request under its id, which is new. One with a Ref is the
// same as one of the same caller, for the same server and action, that has not ended,
// and that one is returned. The codes are invalid, conflict (too many have not ended),
// unavailable and timeout.
func (s *Store) CreateRequest(ctx context.Context, r StoredRequest) (StoredRequest, error) {
	const op = "request"
	if len(r.Ref) > maxReason {
		return StoredRequest{}, protocol.Errorf(protocol.CodeInvalid, op, "the ref is longer than %d bytes", maxReason).
			WithHint("give a shorter one")
	}
	r.Revision = 0
	for try := 1; ; try++ {
		created, err := s.createRequest(ctx, op, r, try > 1)
		if err == nil || !s.core.again(ctx, err, try) {
			return created, err
		}
	}
}

// createRequest is one try.
func (s *Store) createRequest(ctx context.Context, op string, r StoredRequest, again bool) (StoredRequest, error) {
	open, before := s.underway.add("requests for "+r.Server, 1)
	defer before()
	for _, old := range s.openRequests(reference(resource.KindServer, r.Server)) {
		open++
		if r.Ref != "" && old.Ref == r.Ref && old.By == r.By && old.Action == r.Action {
			return old, nil
		}
	}
	if open >= maxOpen {
		return StoredRequest{}, protocol.Errorf(protocol.CodeConflict, op, "%d requests for server %q have not ended", open, r.Server).
			WithHint("one reboot serves all that wait; see rackctl describe server %s, and give a --ref so that the same again is the same", r.Server)
	}
	others, done := s.underway.add("requests of "+r.Rack, requestSize(r.Request))
	defer done()
	if err := s.roomForRequest(op, r, others); err != nil {
		return StoredRequest{}, err
	}
	return r, s.putRequest(ctx, r, again)
}

// PutRequest writes a request: compare-and-set on its revision. The codes are
// invalid, conflict, unavailable and timeout.
func (s *Store) PutRequest(ctx context.Context, r StoredRequest) error {
	return s.putRequest(ctx, r, false)
}

func (s *Store) putRequest(ctx context.Context, r StoredRequest, again bool) error {
	const op = "put request"
	switch {
	case r.NotAfter.IsZero():
		return protocol.Errorf(protocol.CodeInvalid, op, "request %s has no notAfter", r.ID)
	case !validToken(r.ID):
		return protocol.Errorf(protocol.CodeInvalid, op, "%q is not a name", r.ID)
	}
	value, err := toJSON(&r)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	c := change{taker: taker{Kind: requestKind, Name: r.ID}, key: s.requests.key(r.ID), at: r.Revision, value: value, has: requestRules(&r)}
	if old := s.requests.peek(r.ID); old != nil && old.Revision == r.Revision {
		c.had = requestRules(old)
	} else if r.Revision != 0 {
		s.core.refresh(ctx, c.key)
		return stateError(op, state.ErrConflict)
	}
	if _, err := s.transact(ctx, []change{c}, nil, again); err != nil {
		return stateError(op, err)
	}
	return nil
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
	return s.openRequests(reference(resource.KindRack, rack))
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
	const op = "remove request"
	c := change{taker: taker{Kind: requestKind, Name: id}, key: s.requests.key(id), at: r.Revision, had: requestRules(r)}
	if _, err := s.transact(ctx, []change{c}, nil, false); err != nil {
		return stateError(op, err)
	}
	s.requests.forget(id)
	return nil
}

// requestBook's requests are without pointers: a copy of one is its reader's own.
func (s *Store) requestBook() *book[StoredRequest] {
	return &book[StoredRequest]{
		core: s.core, bucket: requestBucket, what: "request", decode: fromJSON[StoredRequest], encode: toJSON[StoredRequest],
		revision: func(v *StoredRequest) *uint64 { return &v.Revision },
	}
}
