package api

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// PathHubs is the route of the hubs that share a store.
const PathHubs = "/v1/hubs"

// HubState is what a hub is seen as by the one that answers.
type HubState string

// The states.
const (
	HubWorks    HubState = "Works"    // it works the racks
	HubStandby  HubState = "Standby"  // it shows the fleet and takes changes, and would take over
	HubDraining HubState = "Draining" // it wants no work: it ends, or hears no agents
	HubNew      HubState = "New"      // one beat of it was seen: it starts, or is dead
	HubSilent   HubState = "Silent"   // it is dead, stopped, or cut off from the store
	HubReadOnly HubState = "ReadOnly" // it only reads: its store has lost something, or another start of a hub has it
)

// HubStatus is one of the hubs that share a store, as the one that answers sees it. A hub with a store of its own is the
// only one.
type HubStatus struct {
	Name  string   `json:"name"`
	State HubState `json:"state"`
	// Answers says that it is this hub that answers.
	Answers   bool      `json:"answers,omitempty"`
	API       string    `json:"api,omitempty"` // its URL
	Version   string    `json:"version,omitempty"`
	StartedAt time.Time `json:"startedAt"` // by its clock
	Racks     int       `json:"racks"`     // that it works
	// Since is when it began to work the site, by its clock, and Before the name of the hub that did so before; both are left
	// out of one that does not, Before also where it is not known.
	Since  *time.Time `json:"since,omitempty"`
	Before string     `json:"before,omitempty"`
	// Units are what it works, rack/NAME and site; a list of hubs leaves them out.
	Units []string `json:"units,omitempty"`
}

// HubList are the hubs that share a store, in order of their names.
type HubList struct {
	Items []HubStatus `json:"items"`
	// Incomplete says that something may be missing in Items, and why.
	Incomplete *Incomplete `json:"incomplete,omitempty"`
}

// Hubs are those that share a store.
type Hubs struct{ hub *hub }

// List reads all.
func (h Hubs) List(ctx context.Context) ([]HubStatus, error) {
	var out HubList
	err := h.hub.call(ctx, http.MethodGet, PathHubs, nil, &out)
	if err == nil {
		err = out.Incomplete.Err("list hubs")
	}
	return out.Items, err
}

// Get reads one, with what it works.
func (h Hubs) Get(ctx context.Context, name string) (out HubStatus, err error) {
	err = h.hub.call(ctx, http.MethodGet, PathHubs+"/"+url.PathEscape(name), nil, &out)
	return out, err
}
