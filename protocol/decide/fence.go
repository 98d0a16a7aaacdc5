package decide

import (
	"time"

	"rackboot/protocol"
)

// releaseProof is the key of the proof that ends a claim.
const releaseProof = ""

// minReads is how many reads of Off a proof needs at least.
const minReads = 2

// onLatency is how long a BMC that accepted On may show Off before the server
// comes up. It is sent again sooner, since most that show no effect were dropped (see
// onResend); but nothing is proved, and nothing new begun, while one may still come.
const onLatency = 3 * onResend

// quietAt is when no On of ours can take effect any more; zero if none can.
func (a *Attempt) quietAt() time.Time {
	if a == nil || a.Stage.PowerOn.Pending.IsZero() {
		return time.Time{}
	}
	return a.Stage.PowerOn.Pending.Add(onLatency)
}

// pending says whether an On of ours can still take effect. Nothing new is begun meanwhile:
// with the attempt that sent the On it would be forgotten that it was sent.
func (a *Attempt) pending(now time.Time) bool { return a.quietAt().After(now) }

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
