package exporter

import (
	"encoding/json"
	"net/http"

	"rackboot/hub/reports"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// TargetsPath is where the hub's metrics page has the agents' metrics pages.
const TargetsPath = "/sd/agents"

// Target is a target group as Prometheus reads it from http_sd_configs
// (https://prometheus.io/docs/prometheus/latest/http_sd/).
type Target struct {
	Targets []string          `json:"targets"`
	Labels  map[string]string `json:"labels"`
}

// Targets are the metrics pages of the agents that serve racks or stand by, as each has said where others reach it. One that
// said nothing, or nothing that fits, is left out. whole is false while some were not heard since the hub was started, for as
// long as a living agent may be silent.
func (r *Room) Targets() (all []Target, whole bool) {
	all, whole = []Target{}, r.cfg.Clock().Sub(r.cfg.Began) > reports.DarkAfter
	missing := false
	add := func(rack, agent string, role resource.AgentRole) {
		if agent == "" {
			return
		}
		last, _, heard := r.cfg.Reports.Agent(agent)
		missing = missing || !heard
		if heard && last.Metrics.Check() == nil {
			all = append(all, Target{[]string{string(last.Metrics)}, map[string]string{"rack": rack, "agent": agent, "role": string(role)}})
		}
	}
	for _, rack := range store.List[*resource.Rack](r.cfg.Store.Objects) {
		add(rack.Metadata.Name, rack.Status.Agent, resource.RoleActive)
		add(rack.Metadata.Name, rack.Status.Standby, resource.RoleStandby)
	}
	return all, whole || !missing
}

// ServeTargets answers with [Room.Targets]. While these are not whole the answer is 503: Prometheus keeps the list that it has.
func (r *Room) ServeTargets(w http.ResponseWriter, _ *http.Request) {
	all, whole := r.Targets()
	w.Header().Set("Content-Type", "application/json")
	if !whole {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(`{"status":"not all agents were heard since the hub was started"}` + "\n")) // else the client is gone
		return
	}
	_ = json.NewEncoder(w).Encode(all) // else the client is gone
}
