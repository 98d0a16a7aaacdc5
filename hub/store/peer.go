package store

import (
	"context"
	"encoding/json"
	"time"

	"rackboot/protocol"
	"rackboot/state"
)

// Hub is one of the hubs that share a store, as it says itself.
type Hub struct {
	Name string `json:"-"`   // stays over restarts
	Run  string `json:"run"` // of this start
	// Beat rises while it runs.
	Beat     uint64 `json:"beat"`
	Draining bool   `json:"draining,omitempty"` // it wants no work: it hears no agents
	// Lacks counts what this hub could not take of what agents report, because it has not heard what that is told as a
	// change of.
	Lacks    uint64    `json:"lacks,omitempty"`
	API      string    `json:"api,omitempty"` // its URL
	Version  string    `json:"version,omitempty"`
	Began    time.Time `json:"began"`
	Revision uint64    `json:"-"` // for compare-and-set; 0 creates
}

// Hubs are those that share the store. One that is alone writes nothing here.
type Hubs struct{ core *core }

// List returns them in order of their names. One that cannot be read is left out, and logged when it is written.
func (hs *Hubs) List() (out []Hub) {
	for _, e := range hs.core.mirror.list(hubBucket) {
		if h, err := readHub(e.Entry); err == nil {
			out = append(out, h)
		}
	}
	return out
}

func readHub(e state.Entry) (Hub, error) {
	_, name := split(e.Key)
	h := Hub{Name: name, Revision: e.Revision}
	return h, json.Unmarshal(e.Value, &h)
}

// HubsIn returns the hubs that share a store that is not opened. It reads the whole store. The codes are unavailable and
// timeout.
func HubsIn(ctx context.Context, kv state.KV) (out []Hub, err error) {
	entries, _, err := kv.List(ctx, hubBucket+".")
	if err != nil {
		return nil, stateError("list the hubs of a store", err)
	}
	for _, e := range entries {
		if h, err := readHub(e); err == nil {
			out = append(out, h)
		}
	}
	return out, nil
}

// Newest reads one from the store itself. The codes are not_found, internal, unavailable and timeout.
func (hs *Hubs) Newest(ctx context.Context, name string) (Hub, error) {
	return HubIn(ctx, hs.core.kv, name)
}

// HubIn reads one from a store that is not opened. The codes are those of Newest.
func HubIn(ctx context.Context, kv state.KV, name string) (Hub, error) {
	const op = "read a hub"
	e, err := kv.Get(ctx, hubBucket+"."+name)
	if err != nil {
		return Hub{Name: name}, stateError(op, err)
	}
	h, err := readHub(e)
	if err != nil {
		return h, protocol.Errorf(protocol.CodeInternal, op, "%q: %w", e.Key, err)
	}
	return h, nil
}

// Put writes one, compare-and-set on its revision, which it updates. The codes are invalid, conflict, unavailable and
// timeout.
func (hs *Hubs) Put(ctx context.Context, h *Hub) error {
	const op = "put a hub"
	if !validToken(h.Name) {
		return protocol.Errorf(protocol.CodeInvalid, op, "%q is not a name: use A-Z, a-z, 0-9, _, = and -", h.Name)
	}
	value, err := json.Marshal(h)
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	revision, err := hs.core.put(ctx, hubBucket+"."+h.Name, value, h.Revision)
	if err != nil {
		return stateError(op, err)
	}
	h.Revision = revision
	return nil
}

// Reached waits until what was written up to a revision has come here, and reports whether it has before ctx ended.
func (hs *Hubs) Reached(ctx context.Context, revision uint64) bool {
	return hs.core.reached(ctx, revision)
}

// Remove removes one at its revision. The codes are conflict, unavailable and timeout.
func (hs *Hubs) Remove(ctx context.Context, h Hub) error {
	if err := hs.core.remove(ctx, hubBucket+"."+h.Name, h.Revision); err != nil {
		return stateError("remove a hub", err)
	}
	return nil
}
