package cli

import (
	"slices"
	"strings"
	"time"

	"rackboot/protocol/resource"
)

// visible are the conditions that people are shown: those that have lasted long
// enough and that no other one explains.
func visible(all []resource.ConditionState, now time.Time) []resource.ConditionState {
	var out []resource.ConditionState
	for _, c := range all {
		known, ok := resource.LookupCondition(c.Code)
		explained := slices.ContainsFunc(all, func(o resource.ConditionState) bool { return slices.Contains(known.DependsOn, o.Code) })
		if ok && (explained || now.Sub(c.Since) < known.TimeToVisible) {
			continue
		}
		out = append(out, c)
	}
	return out
}

func conditionCodes(all []resource.ConditionState, now time.Time) string {
	var codes []string
	for _, c := range visible(all, now) {
		codes = append(codes, string(c.Code))
	}
	return strings.Join(codes, ",")
}

// conditionsOf are the conditions in a resource's status.
func conditionsOf(obj resource.Object) []resource.ConditionState {
	switch o := obj.(type) {
	case *resource.Server:
		return o.Status.Conditions
	case *resource.BMC:
		return o.Status.Conditions
	case *resource.Maintenance:
		return o.Status.Conditions
	case *resource.Claim:
		return o.Status.Conditions
	case *resource.Agent:
		return o.Status.Conditions
	case *resource.BootImage:
		return o.Status.Conditions
	case *resource.ServerGroup:
		return o.Status.Conditions
	case *resource.Secret:
		return o.Status.Conditions
	case *resource.BootConfiguration:
		return o.Status.Conditions
	}
	return nil
}
