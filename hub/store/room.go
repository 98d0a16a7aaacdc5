package store

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

const (
	// maxHolds and maxRequests bound what lies on the servers of one rack, in bytes of a
	// document that carries all of it and may have 128 KiB: a document that is too long
	// would keep every hold and release of the rack from its agent. Each has room of its
	// own, so that no number of reboots keeps a fence from being placed.
	maxHolds    = 80 << 10
	maxRequests = 32 << 10
	// besides is what a hold or request takes besides its texts: ids, times, names of
	// fields.
	besides = 400
)

// roomForHold refuses a hold that does not fit any more into the hold document of its
// rack, beside what else is under way. Two hubs that write at once may pass the bound by what each has under way: the
// document has room for dozens more.
func (s *Store) roomForHold(op string, hold *resource.Hold, others int) error {
	rack := hold.Status.Rack
	used := holdSize(hold) + others
	for _, h := range Find(s, HoldsByRack, rack) {
		used += holdSize(h)
	}
	if used <= maxHolds {
		return nil
	}
	return protocol.Errorf(protocol.CodeConflict, op, "the holds of rack %q take %d bytes, and %d is the most that its agent can be sent", rack, used, maxHolds).
		WithHint("release holds that nobody needs (rackctl get holds), or give shorter reasons and refs")
}

// roomForRequest is roomForHold of a request.
func (s *Store) roomForRequest(op string, r StoredRequest, others int) error {
	used := requestSize(r.Request) + others
	for _, q := range s.OpenRequestsOf(r.Rack) {
		used += requestSize(q.Request)
	}
	if used <= maxRequests {
		return nil
	}
	return protocol.Errorf(protocol.CodeConflict, op, "the requests of rack %q that have not ended take %d bytes, and %d is the most that its agent can be sent", r.Rack, used, maxRequests).
		WithHint("wait until some have ended, or give shorter refs; one reboot serves all that wait for the same server")
}

func holdSize(h *resource.Hold) int {
	n := besides + len(h.Spec.Server) + len(h.Spec.Key) + len(h.Spec.Owner) + len(h.Spec.Ref) + len(h.Spec.Reason) + len(h.Status.ReleaseReason)
	if c := h.Status.ConfirmedDown; c != nil {
		n += len(c.By) + len(c.Reason)
	}
	return n
}

func requestSize(q resource.Request) int {
	return besides + len(q.Server) + len(q.By) + len(q.Ref)
}
