package exporter

import (
	"cmp"

	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// hubGroup is of the hub itself, and of what people have asked it for.
type hubGroup struct{ fenced, approvals, maintenances *metric }

func newHubGroup() *hubGroup {
	return &hubGroup{
		fenced:       desc("hub_fenced", "1 if another hub has taken over and this one has stepped down."),
		approvals:    desc("hub_approvals", "Approvals of destructive actions, by state.", "state"),
		maintenances: desc("hub_maintenances", "Maintenances by state.", "state"),
	}
}

func (g *hubGroup) descs() []*metric {
	return []*metric{g.fenced, g.approvals, g.maintenances}
}

func (g *hubGroup) collect(s *scrape) {
	fenced := 0.0
	if s.room.cfg.Start.Replaced() {
		fenced = 1
	}
	s.gauge(g.fenced, fenced)
	approvals, maintenances := map[resource.ApprovalState]int{}, map[resource.MaintenanceState]int{}
	for _, a := range s.room.cfg.Approvals.List() {
		approvals[a.State]++
	}
	for _, state := range resource.ApprovalStates() {
		s.gauge(g.approvals, float64(approvals[state]), string(state))
	}
	for _, m := range store.List[*resource.Maintenance](s.room.cfg.Store.Objects) {
		maintenances[cmp.Or(m.Status.State, resource.MaintenanceQueued)]++
	}
	for _, state := range resource.MaintenanceStates() {
		s.gauge(g.maintenances, float64(maintenances[state]), string(state))
	}
}
