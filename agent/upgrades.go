package agent

import (
	"context"
	"crypto/ed25519"
	"io"
	"maps"
	"runtime"
	"slices"
	"time"

	"rackboot/agent/installed"
	"rackboot/agent/store"
	"rackboot/agent/upgrade"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Upgrades are how an agent runs another release of itself.
type Upgrades struct {
	// Keys are those of publishers, of the agent's own file; none lets nobody upgrade the agent.
	Keys []ed25519.PublicKey
	// Launched is the word of the launcher that started this process; nil is none.
	Launched *installed.Launched
	// Dir has the releases; see [installed.Dir].
	Dir string
}

// upgrades is what the room is made of. What it asks of the agent is there when it runs.
func (a *Agent) upgrades() upgrade.Config {
	cfg := a.cfg
	return upgrade.Config{
		Version: cfg.Version, Architecture: runtime.GOARCH, Keys: cfg.Upgrades.Keys, Launched: cfg.Upgrades.Launched,
		Store: installed.Files{Dir: cfg.Upgrades.Dir, Crash: cfg.Crash},
		Rack:  upgrading{a}, Files: upgrading{a}, Tell: a.reports.PutUpgrade, Clock: cfg.Clock, Logger: a.log, Registerer: cfg.Registerer,
	}
}

// upgrading is the agent as the room of upgrades sees it.
type upgrading struct{ agent *Agent }

var (
	_ upgrade.Rack  = upgrading{}
	_ upgrade.Files = upgrading{}
)

// Order implements upgrade.Rack. An agent that serves the rack no more follows no order.
func (u upgrading) Order() (*message.UpgradeIntent, error) {
	o, err := u.agent.store.Servers.Overview()
	if err != nil || o.Ended || o.Replaced {
		return nil, err
	}
	return o.Rack.Upgrade, nil
}

// HubTime implements upgrade.Rack.
func (u upgrading) HubTime() time.Time {
	at, _ := u.agent.HubTime()
	return at
}

// Facts implements upgrade.Rack.
func (u upgrading) Facts() (f upgrade.Facts, err error) {
	a := u.agent
	o, err := a.store.Servers.Overview()
	if err != nil {
		return f, err
	}
	switch guard := a.store.guard; {
	case guard.On():
		f.Guard = "the agent is in guard mode"
	case guard.Damaged():
		f.Guard = "the guard set is damaged"
	default:
		f.Guard = guard.Volatile()
	}
	servers(&f, o, a.reports.Of, u.HubTime())
	return f, nil
}

// servers notes what the rack and its servers do. Of an agent that stands by nothing waits: it orders nothing.
func servers(f *upgrade.Facts, o store.Overview, reported func(string) (resource.ServerReport, resource.Phase, bool), hub time.Time) {
	f.Handover = o.Aside || o.Replaced || o.Ended || len(o.Rack.TakenOver) > 0
	if o.Standby {
		return
	}
	attempts, work := map[string]*decide.Attempt{}, map[string]*resource.FirmwareWork{}
	names := map[string]bool{}
	for _, r := range o.Records {
		attempts[r.Server], names[r.Server] = r.Attempt, true
	}
	for _, in := range o.Intents {
		names[in.Server] = true
		if w := in.Firmware; w != nil && (hub.IsZero() || hub.Before(w.NotAfter)) {
			work[in.Server] = w
		}
	}
	for _, h := range o.Holds {
		names[h.Server] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		s, _, _ := reported(name)
		s.Server = name
		for _, h := range o.Holds { // one that no report has yet is not proved
			if h.Server == name && !slices.ContainsFunc(s.Holds, func(r resource.HoldReport) bool { return r.ID == h.ID }) {
				s.Holds = append(slices.Clone(s.Holds), resource.HoldReport{ID: h.ID, Word: resource.HoldEnforced})
			}
		}
		f.Add(s, attempts[name], work[name])
	}
}

// Bring implements upgrade.Files, as do Read and Let.
func (u upgrading) Bring(ctx context.Context, name, digest string, size int64) error {
	return u.agent.files.Bring(ctx, name, digest, size)
}

// Read implements upgrade.Files.
func (u upgrading) Read(digest string) (io.ReadCloser, error) { return u.agent.files.Read(digest) }

// Let implements upgrade.Files.
func (u upgrading) Let(digest string) error { return u.agent.files.Let(digest) }
