package api

import (
	"context"
	"net/http"

	"rackboot/protocol/resource"
)

// What may be said of a maintenance.
const (
	MaintenanceApprove = "approve"
	MaintenanceDeny    = "deny"
)

// MaintenanceRequest approves or denies a maintenance. Reason is needed.
type MaintenanceRequest struct {
	Reason string `json:"reason"`
}

// pathMaintenance is the route that says something of a maintenance.
func pathMaintenance(name, action string) string {
	return PathObject(resource.KindMaintenance, name) + "/" + action
}

// Maintenances are the commands of maintenances.
type Maintenances struct{ hub *hub }

// Command approves or denies a maintenance, as action says. The same again changes
// nothing. The codes are those of the hub: invalid, not_found, conflict, denied.
func (c Maintenances) Command(ctx context.Context, name, action string, r MaintenanceRequest) (*resource.Maintenance, error) {
	var m resource.Maintenance
	return &m, c.hub.call(ctx, http.MethodPost, pathMaintenance(name, action), r, &m)
}
