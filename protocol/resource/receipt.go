package resource

import (
	"time"

	"rackboot/protocol"
)

// Receipt proves that a held server was stopped: at least two reads of exactly
// Off, all after the hold was enforced, over the settle window, with no other
// value between, by one run of the agent that goes on reading (P3). One with Manual is no proof: an operator said so, and the BMC
// did not answer.
type Receipt struct {
	HoldID string `json:"holdId"`
	Server string `json:"server"`
	Agent  string `json:"agent"`
	Key    string `json:"key"`
	Ref    string `json:"ref,omitempty"`
	// EnforcedAt is when the hold was on the agent's disk. Every process that ran
	// before StoppedSince is stopped.
	EnforcedAt time.Time `json:"enforcedAt"`
	// PowerEpoch counts the server's power-ons; it does not grow under a receipt.
	PowerEpoch uint64 `json:"powerEpoch"`
	// StoppedSince is the first read of Off in the unbroken run of such reads; none of
	// them is older than the last moment at which an On of ours could take effect.
	StoppedSince time.Time `json:"stoppedSince"`
	// FirstRead is the first read that counts, ConfirmedAt the last: it completed the proof.
	FirstRead   time.Time     `json:"firstRead,omitzero"`
	ConfirmedAt time.Time     `json:"confirmedAt"`
	Reads       int           `json:"reads"`
	Settle      time.Duration `json:"settle"`
	// Run names the run of the agent that has read all of it. With that run the receipt
	// ends: an agent that starts again proves anew.
	Run string `json:"run,omitempty"`
	// LongestGap is the longest time between two of the reads, from the question of the one to
	// the answer of the next. GapBound is the longest that may be, also afterwards: where the
	// server is not read for longer, the receipt is void, and it is proved anew.
	LongestGap time.Duration `json:"longestGap,omitempty"`
	GapBound   time.Duration `json:"gapBound,omitempty"`
	// OnWaited is how long an On of ours was waited for whose effect nobody saw: the longest that
	// this BMC was seen to take, and a margin, before the first read that counts. Absent where
	// there was none.
	OnWaited time.Duration `json:"onWaited,omitempty"`
	// RestorePolicy is AlwaysOff where the BMC was told to keep the server off when
	// mains power returns, and read back; empty where it cannot be told.
	RestorePolicy protocol.RestorePolicy `json:"restorePolicy,omitempty"`
	Manual        *Confirmation          `json:"manual,omitempty"`
}
