package status

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rackboot/hub/events"
	"rackboot/hub/reports"
	"rackboot/hub/store"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// Doctor says what stands against an upgrade of the hub or of servers, what blocks first.
func (c *Room) Doctor() api.DoctorAnswer {
	found := c.doctorGroups()
	for _, r := range c.cfg.Approvals.List() {
		if r.State == resource.ApprovalPending || r.State == resource.ApprovalGranted {
			found = append(found, api.DoctorFinding{
				Code: resource.CondApprovalNeeded, Target: events.Target(resource.KindRack, r.Rack), Blocks: true,
				Message: fmt.Sprintf("%s of %d targets: rackctl approve show %s", r.Class, len(r.Targets), r.ID),
			})
		}
	}
	found = append(found, c.doctorAgents()...)
	found = append(found, c.doctorStore()...)
	slices.SortStableFunc(found, func(a, b api.DoctorFinding) int {
		return cmp.Or(first(b.Blocks)-first(a.Blocks), strings.Compare(a.Target, b.Target), strings.Compare(string(a.Code), string(b.Code)))
	})
	return api.DoctorAnswer{Version: c.cfg.Version, Findings: found}
}

func first(blocks bool) int {
	if blocks {
		return 1
	}
	return 0
}

// doctorGroups are the conditions of groups that matter, groups that no pass has looked at
// in this run of the hub, of which nothing is known, and what is current somewhere under a
// stamp that does not count any more.
func (c *Room) doctorGroups() []api.DoctorFinding {
	out := []api.DoctorFinding{} // an empty list in JSON
	void := map[string]bool{}
	for _, g := range store.List[*resource.ServerGroup](c.cfg.Objects) {
		name := events.Target(resource.KindServerGroup, g.Metadata.Name)
		if !c.cfg.Groups.Seen(g.Metadata.Name) {
			out = append(out, api.DoctorFinding{Code: resource.CondImagesDeferred, Target: name, Message: "the hub has not looked at it since it started; ask again", Blocks: true})
			continue
		}
		waits := false
		for _, s := range c.cfg.Groups.Conditions(g.Metadata.Name) {
			waits = waits || s.Code == resource.CondWaitingForStamp
			if blocks, told := doctorRule(s.Code); told {
				out = append(out, api.DoctorFinding{Code: s.Code, Target: name, Message: s.Message, Blocks: blocks})
			}
		}
		r := c.cfg.Revisions.RevisionOf(g, g.Status.Revision)
		if waits || r == nil || void[r.Spec.BootImage] {
			continue
		}
		// The group itself does not wait: its servers have booted the revision.
		if why := c.cfg.Revisions.Unstamped(r); why != "" {
			void[r.Spec.BootImage] = true
			out = append(out, api.DoctorFinding{Code: resource.CondWaitingForStamp, Target: events.Target(resource.KindBootImage, r.Spec.BootImage), Message: why})
		}
	}
	return out
}

// doctorAgents are the agents that are silent, and those that cannot do what is asked.
func (c *Room) doctorAgents() (out []api.DoctorFinding) {
	now := c.cfg.Clock()
	for _, r := range store.List[*resource.Rack](c.cfg.Objects) {
		if r.Status.Agent == "" {
			continue
		}
		name := events.Target(resource.KindAgent, r.Status.Agent)
		if _, at, ok := c.cfg.Reports.Agent(r.Status.Agent); !ok || now.Sub(at) > reports.DarkAfter {
			out = append(out, api.DoctorFinding{Code: resource.CondDark, Target: name, Message: "what its servers boot now is not known"})
		}
		tooOld, unheeded := c.cfg.Link.Limits(r.Status.Agent)
		servers, lacks := map[string]bool{}, map[string]bool{}
		for s, caps := range tooOld {
			servers[s] = true
			for _, what := range caps {
				lacks["lacks "+string(what)] = true
			}
		}
		for s, terms := range unheeded {
			servers[s] = true
			for _, what := range terms {
				lacks["does not heed "+what] = true
			}
		}
		if len(servers) > 0 {
			out = append(out, api.DoctorFinding{
				Code: resource.CondAgentTooOld, Target: name, Blocks: true,
				Message: fmt.Sprintf("for %d of its servers: %s", len(servers), strings.Join(slices.Sorted(maps.Keys(lacks)), "; ")),
			})
		}
	}
	return out
}

// doctorRule says whether a condition of a group stands against an upgrade, and whether
// people are told of it at all. The first row that fits decides.
//
//	condition                    | told | blocks
//	BootImageUpdateDegraded      | yes  | yes
//	GroupHotLoop                 | yes  | yes
//	BootImageSkew                | yes  | yes
//	BootImageUpdateProgressing   | yes  | yes
//	RolloutPaused                | yes  | yes
//	RolloutFailed                | yes  | yes
//	StubCAExpiring               | yes  | no
//	StubCAMismatch               | yes  | no
//	WaitingForStamp              | yes  | no
//	GroupSkipped                 | yes  | no
//	GroupConflict                | yes  | no
//	*                            | no   | no
func doctorRule(code resource.ConditionCode) (blocks, told bool) {
	switch code { //nolint:exhaustive // the rest are causes of these
	case resource.CondImagesDegraded, resource.CondGroupHotLoop, resource.CondImageSkew, resource.CondImagesProgressing, resource.CondRolloutPaused, resource.CondRolloutFailed:
		return true, true
	case resource.CondStubCAExpiring, resource.CondStubCAMismatch, resource.CondWaitingForStamp, resource.CondGroupSkipped, resource.CondGroupConflict:
		return false, true
	}
	return false, false
}
