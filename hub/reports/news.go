package reports

import (
	"bytes"
	"reflect"
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// sameNews reports whether two reports of a server say the same of everything that a decision
// depends on. When a read was made, and what the agent alone decides by, may differ.
func sameNews(a, b *resource.ServerReport) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Server == b.Server && settledOf(a.Observation) == settledOf(b.Observation) &&
		a.Power == b.Power && a.PowerEpoch == b.PowerEpoch &&
		sameTime(a.StoppedSince, b.StoppedSince) && sameTime(a.LastPoweredOn, b.LastPoweredOn) && sameTime(a.PendingRebootSince, b.PendingRebootSince) &&
		a.OwnerUID == b.OwnerUID && a.BootGeneration == b.BootGeneration && a.ArtefactsLocal == b.ArtefactsLocal && a.Released == b.Released && a.Identity == b.Identity && a.Architecture == b.Architecture &&
		bytes.Equal(a.Provisioned, b.Provisioned) && slices.EqualFunc(a.Conditions, b.Conditions, sameCondition) && slices.EqualFunc(a.Requests, b.Requests, sameRequest) &&
		len(a.Holds) == len(b.Holds) && (len(a.Holds) == 0 || reflect.DeepEqual(a.Holds, b.Holds)) &&
		alike(a.Attempt, b.Attempt) && alike(a.Account, b.Account) && alike(a.Image, b.Image) && alike(a.Safety, b.Safety) &&
		alike(a.Unexpected, b.Unexpected) && alike(a.Env, b.Env) && alike(a.Fallback, b.Fallback) && alike(a.Unreleased, b.Unreleased) && alike(a.IdentityChange, b.IdentityChange) && alike(a.TPM, b.TPM) && alike(a.Guard, b.Guard) && alike(a.Firmware, b.Firmware) && alike(a.Awaits, b.Awaits)
}

// settledOf is an observation without when it was made, and without the hints that agents compare
// for change.
func settledOf(o protocol.Observation) protocol.Observation {
	o.ReadAt, o.StartedAt = time.Time{}, time.Time{}
	o.BootProgress, o.OEMProgress, o.SystemState, o.LastResetTime, o.PowerLog = "", "", "", "", ""
	return o
}

func sameTime(a, b *time.Time) bool {
	return a == b || a != nil && b != nil && a.Equal(*b)
}

func sameCondition(a, b resource.ConditionState) bool {
	return a.Code == b.Code && a.Message == b.Message && a.Since.Equal(b.Since)
}

func sameRequest(a, b resource.RequestReport) bool {
	return a.ID == b.ID && a.Outcome == b.Outcome && a.Reason == b.Reason && a.At.Equal(b.At)
}

func alike[T any](a, b *T) bool {
	return a == b || a != nil && b != nil && reflect.DeepEqual(a, b)
}
