package server

import (
	"errors"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

// reading is what came of a read. cond says why the BMC could not be asked at all;
// then obs is nil, or says that it is unreachable.
type reading struct {
	obs        *protocol.Observation
	cond       *resource.ConditionState
	busy       bool
	retryAfter time.Duration
}

func (r reading) fill(snap *decide.Snapshot) {
	snap.Observation, snap.BMCError, snap.Busy, snap.RetryAfter = r.obs, r.cond, r.busy, r.retryAfter
}

// unreachable returns the observation of a server whose BMC could not be asked.
func unreachable(server string, now time.Time, code protocol.Code, err error) *protocol.Observation {
	return &protocol.Observation{
		Server: server, StartedAt: now, ReadAt: now, Source: protocol.SourcePoll,
		Power: protocol.PowerUnreachable, Code: code, Error: err.Error(),
	}
}

// pause says whether a BMC asked to be left alone, and for how long; or for how long
// it is not asked, because it does not answer.
func pause(err error) (busy bool, d time.Duration) {
	if b, ok := errors.AsType[*bmc.Busy](err); ok {
		return true, b.RetryAfter
	}
	if t, ok := errors.AsType[*bmc.Tripped](err); ok {
		return false, t.RetryAfter
	}
	return false, 0
}

// outcome puts an error into a decide.Result.
func outcome(r *decide.Result, err error) {
	if err == nil {
		return
	}
	r.Code, r.Message, r.Fault = protocol.CodeOf(err), err.Error(), bmc.FaultOf(err)
	r.Busy, r.RetryAfter = pause(err)
}
