package decide

import (
	"time"

	"rackboot/protocol"
)

// releaseProof is the key of the proof that ends a claim.
const releaseProof = ""

// minReads is how many reads of Off a proof needs at least.
const minReads = 2

// proven says whether a proof spans the settle window.
func (pr Proof) proven(settle time.Duration) bool {
	return pr.Reads >= minReads && pr.Last.Sub(pr.First) >= settle
}

// guarded is the restore policy that a receipt vouches for.
func (r *Record) guarded() protocol.RestorePolicy {
	if g := r.Guard; g != nil && g.State == GuardSet {
		return protocol.RestoreAlwaysOff
	}
	return ""
}
