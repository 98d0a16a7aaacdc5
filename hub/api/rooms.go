package api

import (
	"slices"
)

// Rooms are the parts of the hub that the API asks, each by what it asks of it.
type Rooms struct {
	Status    Status
	Claims    Claims
	Imports   Imports
	Firmware  Firmware
	Discovery Discovery
	Traces    Traces
	Members   Members
	Inventory Inventory
	Carried   Carried
	Groups    Groups
	Rollouts  Rollouts
	Events    EventLog
}

// complete reports whether none is missing.
func (r Rooms) complete() bool {
	return !slices.Contains([]any{r.Status, r.Claims, r.Imports, r.Firmware, r.Discovery, r.Traces, r.Members, r.Inventory, r.Carried, r.Groups, r.Rollouts, r.Events}, nil)
}
