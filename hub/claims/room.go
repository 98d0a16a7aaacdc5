package claims

import (
	"context"
	"errors"
	"log/slog"

	"rackboot/hub/approvals"
	"rackboot/hub/conditions"
	"rackboot/hub/env"
	"rackboot/hub/events"
	"rackboot/hub/grants"
	"rackboot/hub/images"
	"rackboot/hub/inventory"
	"rackboot/hub/plan"
	"rackboot/hub/requests"
	"rackboot/hub/revisions"
	"rackboot/hub/store"
	"rackboot/hub/view"
	"rackboot/hub/wake"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// Config is what a Room is made of.
type Config struct {
	Claims    *store.Claims
	Objects   *store.Objects
	View      *view.Reader
	Inventory *inventory.Room
	Images    *images.Room
	Env       *env.Room
	Grants    *grants.Room
	Revisions *revisions.Room
	Approvals *approvals.Room
	Requests  *requests.Room
	Events    *events.Log
	Wake      *wake.Units

	Clock  state.Clock
	NewID  func() string // ULIDs
	Logger *slog.Logger
	Crash  state.Crasher // nil in production
}

// Room has the claims of all racks. It is safe for concurrent use; [Room.Turn] is for one at a time of each unit.
type Room struct {
	cfg            Config
	conds, unbound *conditions.Book // by name
	offers         offers
}

// New makes a Room.
func New(cfg Config) *Room {
	return &Room{cfg: cfg, conds: conditions.New(), unbound: conditions.New()}
}

// Turn moves the claims of a fleet along, one step each. What cannot be done for one stops no other.
func (r *Room) Turn(ctx context.Context, f plan.Fleet) error {
	conds := map[string][]resource.ConditionState{}
	var errs []error
	for _, cl := range f.Claims {
		more, err := r.claim(ctx, f, cl)
		errs = append(errs, err)
		conds[cl.Metadata.Name] = more
	}
	r.conds.Keep(f.Of, conds, r.cfg.Clock())
	return errors.Join(errs...)
}

// Conditions are those of a claim, as its last turns found them.
func (r *Room) Conditions(cl *resource.Claim) []resource.ConditionState {
	conds := r.conds.Of(cl.Metadata.Name)
	if cl.Status.Server == "" {
		conds = append(r.unbound.Of(cl.Metadata.Name), conds...)
	}
	return conds
}

// Forget drops what is known of units that are no more.
func (r *Room) Forget(units map[string]bool) {
	r.conds.Forget(units)
	r.unbound.Forget(units)
}
