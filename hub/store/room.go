package store

import "rackboot/protocol"

const (
	// maxRack bounds what lies on the servers of one rack, in bytes of a document that
	// carries all of it and may have 128 KiB: a document that is too long would keep
	// every hold and release of the rack from its agent.
	maxRack = 112 << 10
	// besides is what a hold or request takes besides its texts: ids, times, names of
	// fields.
	besides = 400
)

// room refuses what does not fit any more into the hold document of a rack. The caller
// has the lock of holds.
func (s *Store) room(op, rack string, more int) error {
	used := more
	for _, h := range List[*protocol.Hold](s) {
		if h.Status.Rack == rack {
			used += holdSize(h)
		}
	}
	for _, q := range s.Requests() {
		if q.Rack == rack && q.Report.Outcome == protocol.OutcomePending {
			used += requestSize(q.Request)
		}
	}
	if used <= maxRack {
		return nil
	}
	return protocol.Errorf(protocol.CodeConflict, op, "the holds and requests of rack %q take %d bytes, and %d is the most that its agent can be sent", rack, used, maxRack).
		WithHint("release holds that nobody needs (rackctl get holds), or give shorter reasons and refs")
}

func holdSize(h *protocol.Hold) int {
	n := besides + len(h.Spec.Server) + len(h.Spec.Key) + len(h.Spec.Owner) + len(h.Spec.Ref) + len(h.Spec.Reason) + len(h.Status.ReleaseReason)
	if c := h.Status.ConfirmedDown; c != nil {
		n += len(c.By) + len(c.Reason)
	}
	return n
}

func requestSize(q protocol.Request) int {
	return besides + len(q.Server) + len(q.By) + len(q.Ref)
}
