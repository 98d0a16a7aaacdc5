package link

import (
	"fmt"
	"time"

	"rackboot/protocol/resource"
)

// reason is why a message is not heeded.
type reason string

const (
	reasonSignature reason = "signature"
	reasonForm      reason = "form"
	reasonSize      reason = "size"
	reasonTopic     reason = "topic"
	reasonNonce     reason = "nonce"   // signed, and of another session than the present
	reasonRate      reason = "rate"    // more than one agent may send
	reasonUnknown   reason = "unknown" // no such agent
	reasonOrder     reason = "order"   // a report that a later one has overtaken
	reasonLacking   reason = "lacking" // a report that stands for one which is not here
	reasonEnded     reason = "ended"   // of an agent that was revoked or replaced
)

var reasons = []reason{reasonSignature, reasonForm, reasonSize, reasonTopic, reasonNonce, reasonRate, reasonUnknown, reasonOrder, reasonLacking, reasonEnded}

// refusedFor is how long after the last message that failed verification the agent's
// condition ends.
const refusedFor = 10 * time.Minute

// refusals are the messages on an agent's topics that failed verification.
type refusals struct {
	count       int
	leaf        string
	reason      reason
	since, last time.Time
}

// note counts a message. leaf is one of the protocol's, or empty.
func (r *refusals) note(leaf string, why reason, now time.Time) {
	if now.Sub(r.last) > refusedFor {
		*r = refusals{since: now}
	}
	r.count++
	r.leaf, r.reason, r.last = leaf, why, now
}

// condition is nil some time after the last one.
func (r *refusals) condition(now time.Time) *resource.ConditionState {
	if r.count == 0 || now.Sub(r.last) > refusedFor {
		return nil
	}
	leaf := r.leaf
	if leaf == "" {
		leaf = "an unknown topic"
	}
	return &resource.ConditionState{
		Code: resource.CondMessagesRefused, Since: r.since,
		Message: fmt.Sprintf("%d messages on the agent's topics, the last one on %s: %s", r.count, leaf, r.reason),
	}
}
