package apitest

import (
	"context"
	"sync"

	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// CannedMirrors are hub/api.Mirrors that know what the test told them. They are safe for concurrent
// use.
type CannedMirrors struct {
	mu      sync.Mutex
	mirrors map[string]resource.MirrorStatus // by rack
	// Objects are where racks are looked for; New sets it.
	Objects *store.Objects
}

// SetMirror says what Mirror knows of a rack. A Flush of it drops everything.
func (f *CannedMirrors) SetMirror(rack string, s resource.MirrorStatus) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.Rack = rack
	set(&f.mirrors, rack, s)
}

// Mirror implements hub/api.Mirrors.
func (f *CannedMirrors) Mirror(_ context.Context, rack string) (resource.MirrorStatus, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mirror(rack)
}

func (f *CannedMirrors) mirror(rack string) (resource.MirrorStatus, error) {
	if f.Objects != nil {
		if _, err := store.Get[*resource.Rack](f.Objects, rack); err != nil {
			return resource.MirrorStatus{}, err
		}
	}
	s, ok := f.mirrors[rack]
	if !ok {
		return s, protocol.Errorf(protocol.CodeUnavailable, "read mirror", "agent %s-1 has not greeted the hub", rack).
			WithHint("at its host: rackboot-agent mirror")
	}
	return s, nil
}

// Flush implements hub/api.Mirrors: it is refused while a repository does not answer.
func (f *CannedMirrors) Flush(_ context.Context, rack string, r protoapi.FlushRequest) (resource.MirrorFlushed, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.mirror(rack)
	out := resource.MirrorFlushed{Rack: rack, Agent: s.Agent, What: r.What}
	if err != nil {
		return out, err
	}
	for i := range s.Repositories {
		x := &s.Repositories[i]
		if x.Answers == resource.MirrorFails && x.Objects > 0 && !r.Force {
			return out, protocol.Errorf(protocol.CodeConflict, "flush mirror", "%s does not answer", x.URL).WithHint("--force")
		}
		out.Objects, out.Bytes = out.Objects+x.Objects, out.Bytes+x.Bytes
		x.Objects, x.Bytes = 0, 0
	}
	return out, nil
}
