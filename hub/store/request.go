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

// Requests are what people ask of agents once, such as a reboot.
type Requests struct {
	core    *core
	objects *Objects
	// Bulks are requests, and holds, that are asked of many at once.
	Bulks *Bulks
	// book's requests are without pointers: a copy of one is its reader's own.
	book *book[StoredRequest]
	// underway is what is being written of what a rack has room for.
	underway underway
}

func newRequests(o *Objects) *Requests {
	return &Requests{core: o.core, objects: o, Bulks: newBulks(o.core), book: &book[StoredRequest]{
		core: o.core, bucket: requestBucket, what: "request", decode: fromJSON[StoredRequest], encode: toJSON[StoredRequest],
		revision: func(v *StoredRequest) *uint64 { return &v.Revision },
	}}
}

// Create accepts a request under its id, which is new. One with a Ref is the
// same as one of the same caller, for the same server and action, that has not ended,
// and that one is returned. The codes are invalid, conflict (too many have not ended),
// unavailable and timeout.
func (rs *Requests) Create(ctx context.Context, r StoredRequest) (StoredRequest, error) {
	const op = "request"
	if len(r.Ref) > maxReason {
		return StoredRequest{}, protocol.Errorf(protocol.CodeInvalid, op, "the ref is longer than %d bytes", maxReason).
			WithHint("give a shorter one")
	}
	r.Revision = 0
	known := rs.core.alone() // that it is there already is so in the store
	for try := 1; ; try++ {
		created, err := rs.create(ctx, op, r, try > 1)
		if err == nil && created.Revision != 0 && !known { // it is there already
			if err = rs.core.current(ctx); err == nil {
				known = true
				continue
			}
		}
		if err == nil || !rs.core.again(ctx, err, try) {
			return created, err
		}
	}
}

// create is one try.
func (rs *Requests) create(ctx context.Context, op string, r StoredRequest, again bool) (StoredRequest, error) {
	open, before := rs.underway.add("requests for "+r.Server, 1)
	defer before()
	for _, old := range rs.open(refersTo(resource.KindServer, r.Server)) {
		open++
		if r.Ref != "" && old.Ref == r.Ref && old.By == r.By && old.Action == r.Action {
			return old, nil
		}
	}
	if open >= maxOpen {
		return StoredRequest{}, protocol.Errorf(protocol.CodeConflict, op, "%d requests for server %q have not ended", open, r.Server).
			WithHint("one reboot serves all that wait; see rackctl describe server %s, and give a --ref so that the same again is the same", r.Server)
	}
	others, done := rs.underway.add("requests of "+r.Rack, requestSize(r.Request))
	defer done()
	if err := rs.roomFor(op, r, others); err != nil {
		return StoredRequest{}, err
	}
	return r, rs.put(ctx, r, again)
}

// Put writes a request: compare-and-set on its revision. The codes are
// invalid, conflict, unavailable and timeout.
func (rs *Requests) Put(ctx context.Context, r StoredRequest) error {
	return rs.put(ctx, r, false)
}

func (rs *Requests) put(ctx context.Context, r StoredRequest, again bool) error {
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
	c := change{taker: taker{Kind: requestKind, Name: r.ID}, key: rs.book.key(r.ID), at: r.Revision, value: value, has: requestRules(&r)}
	if old := rs.book.peek(r.ID); old != nil && old.Revision == r.Revision {
		c.had = requestRules(old)
	} else if r.Revision != 0 {
		rs.core.refresh(ctx, c.key)
		return stateError(op, state.ErrConflict)
	}
	if _, err := rs.objects.transact(ctx, []change{c}, nil, again); err != nil {
		return stateError(op, err)
	}
	return nil
}

// Cancel takes a request back, for whoever says so. One that no agent was given ends at once; of another
// its agent says what became of it. One that has ended stays as it ended. The codes are not_found,
// conflict, unavailable and timeout.
func (rs *Requests) Cancel(ctx context.Context, id, by string) (StoredRequest, error) {
	for try := 1; ; try++ {
		r, err := rs.Get(id)
		if err != nil || r.Report.Outcome.Ended() || r.Cancelled != "" {
			return r, err
		}
		if r.Cancelled = by; r.Incarnation == "" {
			r.Report = resource.RequestReport{ID: r.ID, Outcome: resource.OutcomeCancelled, At: rs.core.clock().UTC(), Reason: "it was taken back before its agent was given it"}
		}
		if err = rs.put(ctx, r, try > 1); err == nil {
			rs.core.logger.Info("request cancelled", "request", id, "server", r.Server, "by", by)
			return rs.Get(id)
		}
		if !rs.core.again(ctx, err, try) {
			return StoredRequest{}, err
		}
	}
}

// List lists all requests in the order of their ids, which is that of their
// creation. One that cannot be read is left out and logged.
func (rs *Requests) List() []StoredRequest {
	all := rs.book.list()
	out := make([]StoredRequest, 0, len(all))
	for _, r := range all {
		if r.ID != "" {
			out = append(out, *r)
		}
	}
	return out
}

// Open lists the requests that have not ended, as List does.
func (rs *Requests) Open() []StoredRequest { return rs.open(anyOpen()) }

// OpenOf lists those of a rack.
func (rs *Requests) OpenOf(rack string) []StoredRequest {
	return rs.open(refersTo(resource.KindRack, rack))
}

// OpenFor lists those that were made of a claim.
func (rs *Requests) OpenFor(claimUID string) []StoredRequest {
	return rs.open(claimed(claimUID))
}

func (rs *Requests) open(t term) (out []StoredRequest) {
	for _, r := range rs.book.find(openRequests, t) {
		out = append(out, *r)
	}
	return out
}

// Get returns one request; not_found if there is none, internal if it cannot be
// read.
func (rs *Requests) Get(id string) (StoredRequest, error) {
	const op = "get request"
	var r *StoredRequest
	if validToken(id) {
		r = rs.book.peek(id)
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

// Remove deletes a request; one that is gone already is no error. The
// codes are conflict, unavailable and timeout.
func (rs *Requests) Remove(ctx context.Context, id string) error {
	r := rs.book.peek(id)
	if r == nil {
		return nil
	}
	const op = "remove request"
	c := change{taker: taker{Kind: requestKind, Name: id}, key: rs.book.key(id), at: r.Revision, had: requestRules(r)}
	if _, err := rs.objects.transact(ctx, []change{c}, nil, false); err != nil {
		return stateError(op, err)
	}
	rs.book.forget(id)
	return nil
}

// roomFor refuses a request that does not fit any more into the documents of its rack, as one of
// Holds does.
func (rs *Requests) roomFor(op string, r StoredRequest, others int) error {
	used := requestSize(r.Request) + others
	for _, q := range rs.OpenOf(r.Rack) {
		used += requestSize(q.Request)
	}
	if used <= maxRequests {
		return nil
	}
	return protocol.Errorf(protocol.CodeConflict, op, "the requests of rack %q that have not ended take %d bytes, and %d is the most that its agent can be sent", r.Rack, used, maxRequests).
		WithHint("wait until some have ended, or give shorter refs; one reboot serves all that wait for the same server")
}
