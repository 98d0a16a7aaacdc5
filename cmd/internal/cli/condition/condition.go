package condition

import (
	"slices"
	"strings"
	"time"

	"rackboot/protocol/resource"
)

// Visible are the conditions that people are shown: those that have lasted long
// enough and that no other one explains.
func Visible(all []resource.ConditionState, now time.Time) []resource.ConditionState {
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

// Codes are those of the visible conditions, separated by commas.
func Codes(all []resource.ConditionState, now time.Time) string {
	var codes []string
	for _, c := range Visible(all, now) {
		codes = append(codes, string(c.Code))
	}
	return strings.Join(codes, ",")
}
