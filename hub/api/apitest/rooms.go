package apitest

import "rackboot/hub/api"

// Fleet is all rooms of a hub in one.
type Fleet interface {
	api.Status
	api.Claims
	api.Imports
	api.Firmware
	api.Discovery
	api.Traces
	api.Members
	api.Inventory
	api.Carried
	api.Groups
	api.Rollouts
	api.EventLog
}

// Rooms are those of a fleet.
func Rooms(f Fleet) api.Rooms {
	return api.Rooms{Status: f, Claims: f, Imports: f, Firmware: f, Discovery: f, Traces: f, Members: f, Inventory: f, Carried: f, Groups: f, Rollouts: f, Events: f}
}
