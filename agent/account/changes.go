package account

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"rackboot/agent/store"
	"rackboot/bmc"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// ChangesConfig is what changes of accounts are made of.
type ChangesConfig struct {
	Accounts *Room
	Store    *store.Store
	// Secrets opens what is kept; nil has no account that changes.
	Secrets Secrets
	OpenBMC bmc.Opener
	Clock   state.Clock
	Crash   state.Crasher // nil in production
}

// Changes are the changes of accounts in memory, by BMC: what is lost with the process. All
// methods are safe for concurrent use.
type Changes struct {
	cfg ChangesConfig

	mu    sync.Mutex
	byBMC map[string]*change
}

type change struct {
	busy  sync.Mutex // one server's loop at a time
	id    string
	facts decide.AccountFacts
	tries int
	after time.Time
	why   string // what the BMC said last
}

// NewChanges makes changes of which none has begun.
func NewChanges(cfg ChangesConfig) *Changes {
	return &Changes{cfg: cfg, byBMC: map[string]*change{}}
}

func (c *Changes) of(name string) *change {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byBMC[name] == nil {
		c.byBMC[name] = &change{}
	}
	return c.byBMC[name]
}

// Trouble is why no account of a BMC is known to work, and the condition that says so.
type Trouble struct {
	Code resource.ConditionCode
	Err  error
}

func trouble(code resource.ConditionCode, err error) *Trouble { return &Trouble{code, err} }

// GoOn goes on with the change of the BMC's account, if there is one, from the loop of a
// server behind it. every is how often the server is read. It returns nil where the BMC can be
// asked.
func (c *Changes) GoOn(ctx context.Context, in message.ServerIntent, every time.Duration, log *slog.Logger) *Trouble {
	name := resource.SecretOf(in.BMC.CredentialsRef)
	if name == "" || c.cfg.Secrets == nil {
		return nil
	}
	kept, err := c.cfg.Store.Accounts.Credentials(in.BMC.Name)
	if err != nil || kept.Secret != name {
		return nil
	}
	have, err := c.cfg.Secrets.Reveal(kept)
	if err != nil || have.Next == nil {
		return nil // what is wrong is said by the read
	}
	rec, err := c.cfg.Store.Accounts.Change(in.BMC.Name, have.Change)
	if err != nil {
		return trouble(resource.CondGuardMode, err)
	}
	was, err := c.cfg.Accounts.Former(have)
	if err != nil && rec.Phase == decide.AccountNew {
		return nil
	}
	one := changer{c.of(in.BMC.Name), &c.cfg, log, in, rec, have, was}
	if !one.busy.TryLock() {
		return trouble(resource.CondRotating, errors.New("another server's loop changes it"))
	}
	defer one.busy.Unlock()
	if one.id != have.Change {
		one.id, one.facts, one.tries, one.after, one.why = have.Change, decide.AccountFacts{}, 0, time.Time{}, ""
	}
	one.facts.Phase = rec.Phase
	if rec.Phase != decide.AccountRotated && rec.Phase != decide.AccountKept && c.cfg.Clock().Before(one.after) {
		return one.waiting()
	}
	return one.run(ctx, every)
}

// occupied reports whether a hold lies on a server behind a BMC, or one is being booted.
// What cannot be read counts as so.
func (c *ChangesConfig) occupied(name string) bool {
	o, err := c.Store.Servers.Overview()
	if err != nil {
		return true
	}
	behind := map[string]bool{}
	for _, in := range o.Intents {
		behind[in.Server] = in.BMC.Name == name
	}
	for _, h := range o.Holds {
		if behind[h.Server] {
			return true
		}
	}
	for _, r := range o.Records {
		if t := r.Attempt; behind[r.Server] && t != nil && t.Stage.State != resource.AttemptSucceeded && t.Stage.State != resource.AttemptFailed {
			return true
		}
	}
	return false
}
