package store

import "rackboot/protocol/resource"

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
