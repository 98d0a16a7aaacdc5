package api

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"rackboot/protocol"
)

// PathBulk is the route of bulk operations.
const PathBulk = "/v1/bulk"

// The bounds of bulk operations.
const (
	MaxBulkNames        = 10_000 // of one
	MaxBulkParallel     = 50     // at once, of one
	DefaultBulkParallel = 10
	MaxBulkOpen         = 20 // that have not ended, of all callers
)

// BulkAction is what is done to each.
type BulkAction string

// The actions.
const (
	BulkHold     BulkAction = "hold"
	BulkRelease  BulkAction = "release"
	BulkReboot   BulkAction = "reboot"
	BulkPowerOff BulkAction = "power-off"
)

// BulkRequest asks for one action on many servers, or for the release of many holds. The hub works it off, also over
// its own restart.
type BulkRequest struct {
	Action BulkAction `json:"action"` // hold, release, reboot or power-off
	// Names are of servers, of holds for a release; else Selector says which by their labels, as a list's does. What it
	// means is found once, when the request is accepted.
	Names    []string `json:"names,omitempty"`
	Selector string   `json:"selector,omitempty"`
	// Hold, Release and Request are what the request for one would have. A Request has no action of its own; without a Ref its
	// requests have bulk/ID.
	Hold    *HoldRequest    `json:"hold,omitempty"`
	Release *ReleaseRequest `json:"release,omitempty"`
	Request *RebootRequest  `json:"request,omitempty"`
	// Parallel is how many are done at once: default 10, at most 50.
	Parallel int `json:"parallel,omitempty"`
	// StopAfter is after how many failures the others are not tried; 0 goes on. What is under way then is ended.
	StopAfter int `json:"stopAfter,omitempty"`
}

// BulkState is where a bulk operation is.
type BulkState string

// The states.
const (
	BulkRunning   BulkState = "Running"
	BulkStopped   BulkState = "Stopped" // after too many failures
	BulkCancelled BulkState = "Cancelled"
	BulkDone      BulkState = "Done" // each was tried
)

// BulkOutcome is what became of one.
type BulkOutcome string

// The outcomes.
const (
	BulkItemDone     BulkOutcome = "done"
	BulkItemFailed   BulkOutcome = "failed"
	BulkItemWaiting  BulkOutcome = "waiting"
	BulkItemNotTried BulkOutcome = "not tried" // and never will be
)

// BulkResult is what became of one.
type BulkResult struct {
	Name    string        `json:"name"`
	Outcome BulkOutcome   `json:"outcome"`
	Code    protocol.Code `json:"code,omitempty"` // of a failure, as Message and Hint
	Message string        `json:"message,omitempty"`
	Hint    string        `json:"hint,omitempty"`
}

// BulkStatus is a bulk operation and what became of it.
type BulkStatus struct {
	ID          string     `json:"id"`
	Action      BulkAction `json:"action"`
	By          string     `json:"by"`
	State       BulkState  `json:"state"`
	Total       int        `json:"total"`
	Done        int        `json:"done"`
	Failed      int        `json:"failed"`
	Waiting     int        `json:"waiting"` // of an ended one these were not tried
	Parallel    int        `json:"parallel"`
	StopAfter   int        `json:"stopAfter,omitempty"`
	CreatedAt   time.Time  `json:"createdAt"`
	EndedAt     *time.Time `json:"endedAt,omitempty"`
	CancelledBy string     `json:"cancelledBy,omitempty"`
	// Results has each, failures first; a list of bulk operations leaves it out.
	Results []BulkResult `json:"results,omitempty"`
}

// BulkList are bulk operations, the oldest first.
type BulkList struct {
	Items []BulkStatus `json:"items"`
	// Incomplete says that something may be missing in Items, and why.
	Incomplete *Incomplete `json:"incomplete,omitempty"`
}

// Bulks are operations on many servers.
type Bulks struct{ hub *hub }

func pathBulk(id string) string { return PathBulk + "/" + url.PathEscape(id) }

// Create asks for one. It is not safe to repeat.
func (b Bulks) Create(ctx context.Context, r BulkRequest) (out BulkStatus, err error) {
	err = b.hub.call(ctx, http.MethodPost, PathBulk, r, &out)
	return out, err
}

// List reads the caller's own; an admin's has all.
func (b Bulks) List(ctx context.Context) ([]BulkStatus, error) {
	var out BulkList
	err := b.hub.call(ctx, http.MethodGet, PathBulk, nil, &out)
	if err == nil {
		err = out.Incomplete.Err("list bulk operations")
	}
	return out.Items, err
}

// Get reads one.
func (b Bulks) Get(ctx context.Context, id string) (out BulkStatus, err error) {
	err = b.hub.call(ctx, http.MethodGet, pathBulk(id), nil, &out)
	return out, err
}

// Cancel has those not be tried that were not. Repeating it is safe.
func (b Bulks) Cancel(ctx context.Context, id string) (out BulkStatus, err error) {
	err = b.hub.call(ctx, http.MethodPost, pathBulk(id)+"/cancel", nil, &out)
	return out, err
}
