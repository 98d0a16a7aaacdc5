package decide

import (
	"fmt"
	"time"

	"rackboot/protocol/resource"
)

// Term is how far the time to live of a hold has run.
type Term struct {
	// Elapsed is the time since the hold was enforced in which the agent ran, up to
	// termEvery less.
	Elapsed time.Duration `json:"elapsed,omitempty"`
	// ExpiredAt is when it was over, by the agent's clock; zero before.
	ExpiredAt time.Time `json:"expiredAt,omitzero"`
}

// termEvery is how much of a time to live a crash may lose.
const termEvery = 30 * time.Second

// ByExpiry is who ends a hold whose time to live is over.
const ByExpiry = "expiry"

// expiry is what becomes of a hold by its time to live.
type expiry string

const (
	expiryLies    expiry = "lies"
	expiryExpires expiry = "expires" // now, and is kept
	expiryExpired expiry = "expired" // before, and is kept
	expiryEnds    expiry = "ends"
)

// expiryRule is the table of times to live. The first row that fits decides.
//
//	ttl  | over | said | onExpiry | answer
//	none | *    | *    | *        | lies
//	some | no   | *    | *        | lies
//	some | yes  | *    | release  | ends
//	some | yes  | no   | *        | expires
//	some | yes  | yes  | *        | expired
//
// The hold's own terms decide, as they were when it was placed (kured 822: a later
// setting never judges a lock again). Whatever cannot be read is kept.
func expiryRule(ttl, over, said bool, on resource.OnExpiry) expiry {
	switch {
	case !ttl, !over:
		return expiryLies
	case on == resource.ExpiryRelease:
		return expiryEnds
	case said:
		return expiryExpired
	}
	return expiryExpires
}

// malformed says what of a hold this agent cannot read; empty if nothing. The hold is
// enforced all the same, as a soft one that does not end by itself.
func malformed(h resource.ActiveHold) string {
	switch {
	case h.Mode != "" && h.Mode != resource.StopSoft && h.Mode != resource.StopHard:
		return fmt.Sprintf("mode %.40q", h.Mode)
	case h.OnExpiry != "" && h.OnExpiry != resource.ExpiryKeep && h.OnExpiry != resource.ExpiryRelease:
		return fmt.Sprintf("onExpiry %.40q", h.OnExpiry)
	case h.TTL < 0:
		return fmt.Sprintf("ttl %s", h.TTL)
	case h.SoftTimeout < 0:
		return fmt.Sprintf("softTimeout %s", h.SoftTimeout)
	}
	return ""
}
