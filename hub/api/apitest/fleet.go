package apitest

import (
	"context"
	"sync"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// CannedFleet is a hub/api.Fleet that knows what the test told it and nothing
// else. It is safe for concurrent use.
type CannedFleet struct {
	mu      sync.Mutex
	servers map[string]protocol.ServerStatus
	holds   map[string]protocol.HoldStatus // by key
	claims  map[string]protocol.ClaimStatus
	bmcs    map[string]protocol.BMCStatus
	probes  map[string][]protocol.Probe // by BMC
	failure error                       // of Probe
	events  []protoapi.EventRecord
	token   string
	Broken  bool // Decorate panics
	// Store is what is accepted in; New sets it.
	Store *store.Store
}

// SetServer says what Decorate fills for a server.
func (f *CannedFleet) SetServer(name string, s protocol.ServerStatus) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set(&f.servers, name, s)
}

// SetHold says what Decorate fills for holds with a key, while not released.
func (f *CannedFleet) SetHold(key string, s protocol.HoldStatus) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set(&f.holds, key, s)
}

// SetClaim says what Decorate fills for a claim.
func (f *CannedFleet) SetClaim(name string, s protocol.ClaimStatus) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set(&f.claims, name, s)
}

// SetBMC says what Decorate fills for a BMC, besides its state.
func (f *CannedFleet) SetBMC(name string, s protocol.BMCStatus) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set(&f.bmcs, name, s)
}

// SetProbe says what Probe finds out; an error fails it.
func (f *CannedFleet) SetProbe(bmc string, probes []protocol.Probe, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set(&f.probes, bmc, probes)
	f.failure = err
}

// AddEvent appends an event of agent a1.
func (f *CannedFleet) AddEvent(server string, code protocol.ConditionCode, message string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := uint64(len(f.events) + 1)
	f.events = append(f.events, protoapi.EventRecord{Agent: "a1", Index: n, Event: protocol.Event{
		Seq: n, At: Now(), Server: server, Code: protocol.EventCode(code), Message: message,
	}})
}

func set[T any](m *map[string]T, key string, v T) {
	if *m == nil {
		*m = map[string]T{}
	}
	(*m)[key] = v
}

// Decorate implements Fleet.
func (f *CannedFleet) Decorate(obj protocol.Object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Broken {
		panic("broken fleet")
	}
	switch o := obj.(type) {
	case *protocol.Server:
		stored := o.Status
		o.Status = f.servers[o.Metadata.Name]
		o.Status.AcceptedIdentity, o.Status.Firmware = stored.AcceptedIdentity, stored.Firmware
	case *protocol.BMC:
		if s, ok := f.bmcs[o.Metadata.Name]; ok {
			s.State, s.AcceptedBy = o.Status.State, o.Status.AcceptedBy
			o.Status = s
		}
	case *protocol.Claim:
		if s, ok := f.claims[o.Metadata.Name]; ok {
			o.Status = s
		}
	case *protocol.Hold:
		stored := o.Status
		switch s, ok := f.holds[o.Spec.Key]; {
		case stored.ReleasedAt != nil:
			o.Status.Word, o.Status.State = protocol.HoldReleased, protocol.StateReleasing
		case ok:
			o.Status = s
			if s.Receipt != nil {
				r := *s.Receipt
				r.HoldID, r.Server, r.Key, r.Ref = o.Metadata.Name, o.Spec.Server, o.Spec.Key, o.Spec.Ref
				o.Status.Receipt = &r
			}
		default:
			o.Status.Word, o.Status.State = protocol.HoldAccepted, protocol.StateAccepted
		}
		o.Status.Rack, o.Status.ConfirmedDown = stored.Rack, stored.ConfirmedDown
	}
}

// NewJoinToken implements Fleet.
func (f *CannedFleet) NewJoinToken(_ context.Context, rack string) (protoapi.JoinToken, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.token = "one-time-" + rack
	return protoapi.JoinToken{Token: f.token, Rack: rack, Expires: Now().Add(time.Hour)}, nil
}

// Join implements Fleet: the token works once.
func (f *CannedFleet) Join(_ context.Context, r protoapi.JoinRequest) (protoapi.JoinAnswer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.token == "" || r.Token != f.token {
		return protoapi.JoinAnswer{}, protocol.Errorf(protocol.CodeDenied, "join", "the token is used, expired or wrong").
			WithHint("rackctl rack join-token RACK makes a new one")
	}
	f.token = ""
	return protoapi.JoinAnswer{Agent: "a1", Rack: "r1", Term: 1, Broker: "mqtts://hub:8883"}, nil
}

// Events implements Fleet.
func (f *CannedFleet) Events(after uint64, limit int) []protoapi.EventRecord {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []protoapi.EventRecord
	for _, e := range f.events {
		if e.Index > after && len(out) < limit {
			out = append(out, e)
		}
	}
	return out
}
