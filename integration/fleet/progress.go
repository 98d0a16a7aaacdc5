package fleet

import (
	"sync/atomic"

	"rackboot/protocol/link"
	"rackboot/protocol/resource"
)

// progress is how far an agent is, for who watches the fleet: the agent writes it.
type progress struct {
	link      atomic.Pointer[link.Link] // nil without power
	dark      atomic.Bool               // its rack has no power
	session   atomic.Int64              // when it last had a connection, in Unix nanoseconds
	answered  atomic.Bool               // by the hub in it, and has all documents
	known     atomic.Int32              // servers that documents name
	owned     atomic.Int32              // of them, those with an owner
	installed atomic.Int32              // of them, those whose record the hub has
	busy      atomic.Int32              // of them, those at which something is to happen yet
	untold    atomic.Int32              // events that the hub has not acknowledged
}

// connected says whether the agent has a connection.
func (p *progress) connected() bool {
	l := p.link.Load()
	return l != nil && l.Connected()
}

// count says how far the agent is.
func (a *agent) count() {
	var known, owned, installed, busy int32
	for _, s := range a.disk.Servers {
		if s.Missing {
			continue
		}
		known++
		if s.Owner == "" {
			continue
		}
		owned++
		if s.Boot != nil && s.Boot.Echo {
			installed++
		}
		if !a.silent(s) && s.busy() {
			busy++
		}
	}
	a.progress.known.Store(known)
	a.progress.owned.Store(owned)
	a.progress.installed.Store(installed)
	a.progress.busy.Store(busy)
	a.progress.untold.Store(int32(len(a.disk.Events.Waiting)))
	a.progress.answered.Store(a.session.answered && !a.lacks())
}

// busy says whether something is to happen at a claimed server yet. One that is held, or has failed as often as
// it may, waits for somebody.
func (s *server) busy() bool {
	switch {
	case s.Doing != doingNothing:
		return true
	case len(s.Holds) > 0 || s.Want != resource.WantOn:
		return false
	case s.Boot == nil:
		return true // its configuration is to come
	case s.Boot.Echo:
		return !s.on()
	case s.RecordOf == s.Boot.owned:
		return true // the hub is to hear of it
	}
	return s.Tries.owned != s.Boot.owned || s.Tries.N < s.Boot.Attempts
}
