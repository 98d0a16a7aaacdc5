package apitest

import (
	"rackboot/hub/api"
	"rackboot/hub/watch"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

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
	api.Upgrades
	api.EventLog
}

// noWatches refuses all watches.
type noWatches struct{}

// Begin implements api.Watches.
func (noWatches) Begin(watch.Ask) (*watch.Watch, error) {
	return nil, protocol.Errorf(protocol.CodeUnsupported, "watch", "this hub tells nobody anything")
}

// oneHub is a hub that is alone.
type oneHub struct{}

// Hubs implements api.Hubs.
func (oneHub) Hubs() []protoapi.HubStatus {
	return []protoapi.HubStatus{{Name: "hub", State: protoapi.HubWorks, Answers: true}}
}

// Hub implements api.Hubs.
func (o oneHub) Hub(name string) (protoapi.HubStatus, error) {
	if name != "hub" {
		return protoapi.HubStatus{}, protocol.Errorf(protocol.CodeNotFound, "get hub", "no hub %q", name).WithHint("rackctl get hubs lists those that are")
	}
	one := o.Hubs()[0]
	one.Units = []string{"site"}
	return one, nil
}

// Rooms are those of a fleet, with mirrors and firmware that nobody told anything of, and without watches.
func Rooms(f Fleet) api.Rooms {
	return api.Rooms{Status: f, Claims: f, Imports: f, Firmware: f, Discovery: f, Traces: f, Mirrors: &CannedMirrors{}, Plans: &CannedPlans{}, Members: f, Inventory: f, Carried: f, Groups: f, Rollouts: f, Upgrades: f, Events: f, Watches: noWatches{}, Hubs: oneHub{}}
}
