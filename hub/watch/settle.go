package watch

import (
	"slices"
	"time"

	"rackboot/protocol/resource"
)

// settle takes out of a resource what changes although nothing has: when its server was read and its agent
// reported, and what counts time. It is for comparison only. What the resource shares with others stays as it is.
func settle(obj resource.Object) {
	switch o := obj.(type) {
	case *resource.Server:
		o.Status.ReadAt, o.Status.Report = nil, settledReport(o.Status.Report)
		o.Status.Conditions = settledConditions(o.Status.Conditions)
	case *resource.Claim:
		o.Status.Conditions = settledConditions(o.Status.Conditions)
	case *resource.Maintenance:
		o.Status.Conditions = settledConditions(o.Status.Conditions)
	case *resource.Agent:
		o.Status.LastReport = nil
		o.Status.Conditions = settledConditions(o.Status.Conditions)
	case *resource.Hold:
		o.Status.ReadAt = nil
		if o.Status.Stale {
			o.Status.Message = "" // it says how long
		}
	}
}

// settledReport is a report without what each read has anew; see the mirror of reports, which compares the same.
func settledReport(r *resource.ServerReport) *resource.ServerReport {
	if r == nil {
		return nil
	}
	own := *r
	o := &own.Observation
	o.ReadAt, o.StartedAt = time.Time{}, time.Time{}
	o.BootProgress, o.OEMProgress, o.SystemState, o.LastResetTime, o.PowerLog = "", "", "", "", ""
	own.ReadAge = 0
	own.Conditions = settledConditions(own.Conditions)
	return &own
}

// settledConditions are conditions without the times and ages that are of whenever somebody looks.
func settledConditions(conds []resource.ConditionState) []resource.ConditionState {
	out := slices.Clone(conds)
	for i := range out {
		switch out[i].Code {
		case resource.CondNoAgent, resource.CondNoStandby:
			out[i].Since = time.Time{}
		case resource.CondStale:
			out[i].Message = ""
		}
	}
	return out
}
