package apitest

import (
	"context"
	"sync"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/protocol/settings"
)

// CannedPlans are hub/api.FirmwarePlans of servers whose firmware is set as the test told. They are
// safe for concurrent use.
type CannedPlans struct {
	mu    sync.Mutex
	shown map[string]protocol.Firmware // by server
	// Objects are where servers and profiles are looked for; New sets it.
	Objects *store.Objects
}

// Set says how a server's firmware is set.
func (f *CannedPlans) Set(server string, shown protocol.Firmware) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set(&f.shown, server, shown)
}

// Plan implements hub/api.FirmwarePlans.
func (f *CannedPlans) Plan(_ context.Context, server string) (out resource.FirmwarePlan, err error) {
	s, err := store.Get[*resource.Server](f.Objects, server)
	if err != nil {
		return out, err
	}
	p, others := settings.ProfileOf(s, store.List[*resource.FirmwareProfile](f.Objects))
	if p == nil {
		return out, protocol.Errorf(protocol.CodeNotFound, "plan firmware", "%d FirmwareProfiles select server %q", len(others), server)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return settings.Planned(server, p, f.shown[server]), nil
}
