package cli

import (
	"slices"
	"strings"
	"time"

	"rackboot/protocol"
)

// visible are the conditions that people are shown: those that have lasted long
// enough and that no other one explains.
func visible(all []protocol.ConditionState, now time.Time) []protocol.ConditionState {
	var out []protocol.ConditionState
	for _, c := range all {
		known, ok := protocol.LookupCondition(c.Code)
		explained := slices.ContainsFunc(all, func(o protocol.ConditionState) bool { return slices.Contains(known.DependsOn, o.Code) })
		if ok && (explained || now.Sub(c.Since) < known.TimeToVisible) {
			continue
		}
		out = append(out, c)
	}
	return out
}

func conditionCodes(all []protocol.ConditionState, now time.Time) string {
	var codes []string
	for _, c := range visible(all, now) {
		codes = append(codes, string(c.Code))
	}
	return strings.Join(codes, ",")
}

// conditionsOf are the conditions in a resource's status.
func conditionsOf(obj protocol.Object) []protocol.ConditionState {
	switch o := obj.(type) {
	case *protocol.Server:
		return o.Status.Conditions
	case *protocol.BMC:
		return o.Status.Conditions
	case *protocol.Maintenance:
		return o.Status.Conditions
	case *protocol.Claim:
		return o.Status.Conditions
	case *protocol.Agent:
		return o.Status.Conditions
	case *protocol.BootImage:
		return o.Status.Conditions
	case *protocol.ServerGroup:
		return o.Status.Conditions
	case *protocol.Secret:
		return o.Status.Conditions
	case *protocol.BootConfiguration:
		return o.Status.Conditions
	}
	return nil
}
