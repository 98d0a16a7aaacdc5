package apitest

import (
	"context"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// SetTraces says what Trace knows of a server, the oldest first.
func (f *CannedFleet) SetTraces(server string, all []resource.Trace) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set(&f.traces, server, all)
}

// Trace implements Fleet.
func (f *CannedFleet) Trace(_ context.Context, server string, serial int) (resource.Trace, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.traces[server]
	for i, t := range all {
		if t.Serial == serial || serial == 0 && i == len(all)-1 {
			return t, nil
		}
	}
	return resource.Trace{}, protocol.Errorf(protocol.CodeNotFound, "trace", "attempt %d of server %s is not kept", serial, server).
		WithHint("leave --attempt out for the newest")
}

// Read implements Fleet: what is read of a server is what SetRead says.
func (f *CannedFleet) Read(_ context.Context, server string) (resource.ServerRead, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r, ok := f.reads[server]; ok {
		return r, nil
	}
	return resource.ServerRead{}, protocol.Errorf(protocol.CodeUnavailable, "read", "the agent of server %s does not answer", server)
}

// SetRead says what is read of a server.
func (f *CannedFleet) SetRead(r resource.ServerRead) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set(&f.reads, r.Server, r)
}
