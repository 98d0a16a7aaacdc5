package store

import (
	"time"

	"rackboot/agent/guard"
	"rackboot/netboot"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// Store is the agent's durable state, with a type for each noun. It and all of them are
// safe for concurrent use.
type Store struct {
	Documents *Documents // of the hub, and which are in force
	Identity  *Identity  // of the database
	Term      *Term      // until when this agent serves the rack
	Aside     *Aside     // whether another agent has the same disk
	Servers   *Servers
	Local     *Local // what is asked for at the agent
	Approvals *Approvals
	Events    *Events
	Trials    *Trials // of changed segments
	Accounts  *Accounts
	Envs      *Envs
	UserData  *UserData
	Images    *Images
	TPMs      *TPMs
	Loaders   *Loaders
	Traces    *Traces
	Leases4   *Leases[netboot.Lease]
	Leases6   *Leases[netboot.Lease6]

	disk *disk
}

// Config is what a Store needs.
type Config struct {
	DB    state.Store
	NewID func() string // random; for the database and each renewal
	Crash state.Crasher // nil in production
	// Guard keeps the guard set; nil keeps none.
	Guard Guard
	// Standby is the term of an agent that joined to stand by; 0 of others.
	Standby uint64
	// Guarded reports whether a destructive key is known now; nil is never.
	Guarded func() bool
}

// Open gives a new database its identity, and finishes what a crash cut short. It writes what
// is to change only. Nothing is served and nothing decided before it returns,
// and one that a crash has cut short is done again from the beginning.
func Open(cfg Config) (*Store, error) {
	return openInParts(cfg, partBytes)
}

func openInParts(cfg Config, bytes int) (*Store, error) {
	d := &disk{db: cfg.DB, guard: cfg.Guard, guards: guardChange, crash: cfg.Crash, partBytes: bytes, write: make(chan struct{}, 1)}
	events := &Events{disk: d, most: maxEvents}
	if err := begin(d, events, cfg.NewID, cfg.Standby); err != nil {
		return nil, failing("open the agent's store", err)
	}
	approvals, local := &Approvals{disk: d, events: events, guard: cfg.Guarded}, &Local{disk: d, events: events}
	tpms := &TPMs{disk: d, events: events}
	identity := &Identity{disk: d, events: events, newID: cfg.NewID}
	return &Store{
		Documents: &Documents{disk: d, events: events, approvals: approvals, tpms: tpms},
		Identity:  identity,
		Aside:     &Aside{disk: d, identity: identity, newID: cfg.NewID},
		Term:      &Term{d},
		Servers:   &Servers{disk: d, events: events, approvals: approvals, local: local},
		Local:     local,
		Approvals: approvals,
		Events:    events,
		Trials:    &Trials{disk: d, events: events},
		Accounts:  &Accounts{d},
		Envs:      &Envs{d},
		UserData:  &UserData{d},
		Images:    &Images{d},
		TPMs:      tpms,
		Loaders:   &Loaders{d},
		Traces:    &Traces{d},
		Leases4:   newLeases4(d),
		Leases6:   newLeases6(d),
		disk:      d,
	}, nil
}

// Return is what is recorded first when a guard mode is over: that it was, and the holds that
// came in it. held are the servers of those.
func (s *Store) Return(m guard.Mode, now time.Time) (held []string, err error) {
	happened := []resource.Event{{At: m.Since, Code: resource.EventGuardMode, Message: "began: " + m.Cause}}
	if m.Accepted != "" {
		happened = append(happened, resource.Event{At: now, Code: resource.EventLossAccepted, Message: m.Accepted})
	}
	happened = append(happened, resource.Event{At: now, Code: resource.EventGuardMode, Message: "over after " + now.Sub(m.Since).Round(time.Second).String()})
	err = s.disk.update(func(t state.Txn) (err error) {
		if held, err = adopt(t, s.disk.guard, s.Events); err != nil {
			return err
		}
		return s.Events.appendAll(t, happened)
	})
	if err != nil {
		return nil, err
	}
	s.disk.hold() // the guard set may have what was refused, and nobody adds to it meanwhile
	defer s.disk.letGo()
	return held, s.disk.settle()
}
