package resource

import (
	"slices"
	"strings"
	"time"
)

// VisibleConditions are the conditions that people are shown: those that have lasted long
// enough and that no other one explains.
func VisibleConditions(all []ConditionState, now time.Time) []ConditionState {
	var out []ConditionState
	for _, c := range all {
		known, ok := LookupCondition(c.Code)
		explained := slices.ContainsFunc(all, func(o ConditionState) bool { return slices.Contains(known.DependsOn, o.Code) })
		if ok && (explained || now.Sub(c.Since) < known.TimeToVisible) {
			continue
		}
		out = append(out, c)
	}
	return out
}

// ConditionCodes are those of the visible conditions, separated by commas.
func ConditionCodes(all []ConditionState, now time.Time) string {
	var codes []string
	for _, c := range VisibleConditions(all, now) {
		codes = append(codes, string(c.Code))
	}
	return strings.Join(codes, ",")
}
