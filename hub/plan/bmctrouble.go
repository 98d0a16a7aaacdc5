package plan

import (
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// accountTroubles are the conditions that are of a BMC's account, whoever of its servers says them.
var accountTroubles = []resource.ConditionCode{resource.CondBMCDenied, resource.CondBMCCredentials, resource.CondCredentialsSealed}

// AccountTrouble is what keeps the agent from speaking with a BMC: what its servers report, and what the
// last reading of it failed by. The reading is asked again after up to half an hour, so that a server
// whose power was read since proves it to be of before.
//
//	servers say | a server is read | the reading says | the BMC carries
//	yes         | *                | *                | theirs
//	no          | yes              | *                | nothing
//	no          | no               | yes              | the reading's
//	no          | no               | no               | nothing
func AccountTrouble(reports []*resource.ServerReport, reading resource.ConditionState) []resource.ConditionState {
	var said []resource.ConditionState
	read := false
	for _, r := range reports {
		if r == nil {
			continue
		}
		read = read || powerRead(r.Observation.Power)
		for _, c := range r.Conditions {
			known := slices.ContainsFunc(said, func(s resource.ConditionState) bool { return s.Code == c.Code })
			if slices.Contains(accountTroubles, c.Code) && !known {
				said = append(said, resource.ConditionState{Code: c.Code, Message: "server " + r.Server + ": " + c.Message})
			}
		}
	}
	switch {
	case len(said) > 0:
		return said
	case read || !slices.Contains(accountTroubles, reading.Code):
		return nil
	}
	return []resource.ConditionState{reading}
}

// powerRead says whether a BMC has answered with it.
func powerRead(p protocol.PowerState) bool {
	return p != "" && p != protocol.PowerUnknown && p != protocol.PowerUnreachable
}
