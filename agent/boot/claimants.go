package boot

import (
	"sync"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// claimants has who said they are a server, by server and for its last attempt: what is on
// disk comes a moment later, and a neighbour may be that quick. The rack bounds it. It is
// safe for concurrent use.
type claimants struct {
	mu sync.Mutex
	by map[string]disputes
}

// disputes are the claimants of one attempt.
type disputes struct {
	token string
	decide.Claimants
}

// of are the claimants of an attempt, as the disk has them and as they were heard since.
func (cs *claimants) of(server string, a *decide.Attempt) decide.Claimants {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	had := a.Claimants
	if d, ok := cs.by[server]; ok && d.token == a.Token {
		had = had.With(d.Claimants)
	}
	return had
}

// claim says what a boot client is that says it is a server, whose network boot is open and
// which was started for it; else it is nothing.
func (cs *claimants) claim(e indexed, s decide.ServeSnapshot, c protocol.BootClient, now time.Time) (is decide.Event) {
	a := s.Attempt
	if s.Server == "" || s.Ambiguous || s.Early || s.Held || s.Missing || c.Class == protocol.ClassNone || !a.Awaits() {
		return is
	}
	is = decide.Event{Token: a.Token, At: now, Claimant: decide.ClaimantOf(c, now)}
	is.Claimed = decide.Claim(e.system(), cs.of(s.Server, a).Pin, a.Marks.Opened, is.Claimant)
	return is
}

// news notes a claimant, and reports whether none of its kind was noted before.
func (cs *claimants) news(server string, is decide.Event) bool {
	if is.Claimed == "" {
		return false
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	d := cs.by[server]
	if d.token != is.Token {
		d = disputes{token: is.Token}
	}
	news := d.Note(is.Claimed, is.Claimant)
	if cs.by == nil {
		cs.by = map[string]disputes{}
	}
	cs.by[server] = d
	return news
}

// system is what is known of a server that its firmware shows too. What somebody gave counts
// before what the BMC shows.
func (e indexed) system() decide.System {
	s := decide.System{Architecture: e.architecture, Port: e.port}
	for _, uuid := range []string{e.uuid, e.uuidRead} {
		if protocol.TellsMachine(uuid) {
			s.UUIDs = []string{uuid}
			break
		}
	}
	return s
}

// disputed is an attempt with all its claimants, as they were heard.
func (x *Index) disputed(server string, a *decide.Attempt) *decide.Attempt {
	if a == nil {
		return nil
	}
	c := *a
	c.Claimants = x.claimants.of(server, a)
	return &c
}

// asks is the one server whose firmware a boot client may be. One that cannot be it, or not
// yet, says nothing of the server.
func (x *Index) asks(c protocol.BootClient) (server string, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	names := x.fitting(c)
	if len(names) != 1 {
		return "", false
	}
	e := x.servers[names[0]]
	a := e.attempt
	now := x.clock()
	opened := false
	var pin *decide.Claimant
	if a.Awaits() {
		if e.start.Early(now) {
			return "", false
		}
		pin, opened = x.claimants.of(names[0], a).Pin, a.Marks.Opened
	}
	return names[0], decide.Claim(e.system(), pin, opened, decide.ClaimantOf(c, now)) != decide.ClaimedForeign
}
