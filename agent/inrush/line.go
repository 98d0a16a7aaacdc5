package inrush

import (
	"cmp"
	"slices"
	"time"

	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

// Line is the servers of a rack that are being switched on, and those that wait for it. The zero Line is empty. It is
// not safe for concurrent use. It has as many entries as there are servers that asked, and those that are over are
// dropped.
type Line struct {
	opened  time.Time // zero while it is closed
	arrived uint64
	entries map[string]*entry
	waits   bool      // somebody may wait; false if nobody does
	dropped time.Time // when it was last looked whether entries are over
}

// entry is one server.
type entry struct {
	server, feed string
	// since is when it began to wait; zero where it does not. first is that its override is armed, and turn its order
	// of arrival.
	since time.Time
	first bool
	turn  uint64
	// granted is when it was given its place; zero where it has none, or has done with it.
	granted time.Time
	// ordered is when it was last sent an On, or the BMC answered to that.
	ordered time.Time
}

// Granted is a server that was given its place.
type Granted struct {
	Server string
	Waited time.Duration
}

// Open opens the line, unless it is open. What an earlier run of the agent has ordered, or another agent before it, is
// not known: until a Window has passed nobody is given a place.
func (l *Line) Open(now time.Time) {
	if l.opened.IsZero() {
		l.opened = now
	}
}

// Close has nobody given a place until it is opened again.
func (l *Line) Close() { l.opened = time.Time{} }

// quiet reports whether it is closed, or not open for long enough.
func (l *Line) quiet(now time.Time, in Limit) bool {
	return in.Bounds() && (l.opened.IsZero() || now.Before(l.opened.Add(in.Window)))
}

// put makes the entry of a server.
func (l *Line) put(server, feed string) *entry {
	if l.entries == nil {
		l.entries = map[string]*entry{}
	}
	e := &entry{server: server, feed: feed}
	l.entries[server] = e
	return e
}

// Place is where a server stands.
func (l *Line) Place(now time.Time, in Limit, server string) decide.Place {
	if !in.Bounds() {
		return decide.Place{}
	}
	out := decide.Place{Limited: true}
	e := l.entries[server]
	switch {
	case e == nil:
	case e.taken(now, in) && e.since.IsZero():
		out.Has = true
	case !e.since.IsZero():
		out.Until = l.until(now, in, e)
	}
	return out
}

// Ask says what a server needs now, and returns who was given a place by it, which may be others: a place is given back
// by a server that needs none. A limit that bounds nothing gives none: without one nobody waits.
func (l *Line) Ask(now time.Time, in Limit, server, feed string, need decide.PlaceNeed) []Granted {
	e := l.entries[server]
	if e == nil {
		if need != decide.PlaceBegin && need != decide.PlaceSend {
			return l.grant(now, in)
		}
		e = l.put(server, feed)
	}
	if !e.taken(now, in) {
		e.granted, e.feed = time.Time{}, feed // one that was not used in time is lost
	}
	switch need {
	case decide.PlaceNone:
		e.since, e.granted = time.Time{}, time.Time{}
	case decide.PlaceKeep:
		e.since = time.Time{}
	case decide.PlaceBegin, decide.PlaceSend:
		switch {
		case !in.Bounds():
			e.since = time.Time{}
		case e.taken(now, in):
			if e.since = (time.Time{}); e.granted.IsZero() { // it cools, and is switched on again
				e.granted = now
			}
		case e.since.IsZero():
			l.arrived++
			e.since, e.turn, e.first = now, l.arrived, need == decide.PlaceSend
			l.waits = true
		default:
			e.first = need == decide.PlaceSend
		}
	}
	return l.grant(now, in)
}

// Order notes that an On is sent to a server now, and reports whether it may be.
func (l *Line) Order(now time.Time, in Limit, server, feed string) bool {
	e := l.entries[server]
	if in.Bounds() && (e == nil || !e.taken(now, in)) {
		return false
	}
	if e == nil {
		e = l.put(server, feed)
	}
	if e.granted.IsZero() {
		e.granted = now
	}
	e.since, e.ordered = time.Time{}, now
	return true
}

// Answered notes that the BMC has answered to an On: the server may have been switched on as late as now.
func (l *Line) Answered(now time.Time, server string) {
	if e := l.entries[server]; e != nil && now.After(e.ordered) {
		e.ordered = now
	}
}

// Waiting is how many servers wait.
func (l *Line) Waiting() (n int) {
	for _, e := range l.entries {
		if !e.since.IsZero() {
			n++
		}
	}
	return n
}

// taken reports whether the server takes room.
func (e *entry) taken(now time.Time, in Limit) bool { return now.Before(e.free(now, in)) }

// soon is when to look again at a place of which nobody knows when it becomes free.
const soon = 5 * time.Second

// free is when the server takes no room any more, as far as that is known.
func (e *entry) free(now time.Time, in Limit) (at time.Time) {
	if !e.ordered.IsZero() {
		at = e.ordered.Add(in.Window)
	}
	switch {
	case e.granted.IsZero():
	case !e.ordered.Before(e.granted): // its On is out, and the server was not seen to run
		if at.Before(now.Add(soon)) {
			at = now.Add(soon)
		}
	case e.granted.Add(Keep).After(at):
		at = e.granted.Add(Keep)
	}
	return at
}

// queue are those that wait, in the order in which they go on.
func (l *Line) queue() (out []*entry) {
	for _, e := range l.entries {
		if !e.since.IsZero() {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b *entry) int {
		if a.first != b.first {
			if a.first {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.turn, b.turn)
	})
	return out
}

// grant gives places to those for whom there is room. One whose feed is full does not hold up servers of others. Where nobody waits, as
// without a limit, what it takes does not grow with the rack: each server asks with each of its reads.
func (l *Line) grant(now time.Time, in Limit) (out []Granted) {
	l.drop(now)
	if !l.waits {
		return nil
	}
	rack, feeds := 0, map[string]int{}
	for _, e := range l.entries {
		if e.taken(now, in) {
			rack++
			feeds[in.feed(e.feed)]++
		}
	}
	queue := l.queue()
	for _, e := range queue {
		feed := in.feed(e.feed)
		if l.quiet(now, in) || in.Servers > 0 && rack >= in.Servers {
			break
		}
		if feed != "" && feeds[feed] >= in.FeedServers {
			continue
		}
		out = append(out, Granted{e.server, now.Sub(e.since)})
		e.since, e.granted = time.Time{}, now
		rack++
		feeds[feed]++
	}
	l.waits = len(queue) > len(out)
	return out
}

// dropEvery is how often it is looked whether entries are over. They take no room meanwhile.
const dropEvery = time.Second

// drop forgets those that can take no room any more, whatever the limit is changed to.
func (l *Line) drop(now time.Time) {
	if now.Sub(l.dropped).Abs() < dropEvery {
		return
	}
	l.dropped = now
	for name, e := range l.entries {
		if e.since.IsZero() && e.granted.IsZero() && !now.Before(e.ordered.Add(resource.MaxInrushWindow)) {
			delete(l.entries, name)
		}
	}
}

// until is when a server that waits is about to be given its place, if each of those before it is sent its On at once and
// comes on. It is never before now.
func (l *Line) until(now time.Time, in Limit, of *entry) time.Time {
	first := now
	if l.quiet(now, in) {
		if first = l.opened.Add(in.Window); l.opened.IsZero() {
			first = now.Add(in.Window)
		}
	}
	rack, feeds := newSlots(in.Servers, len(l.entries), first), map[string]slots{}
	feedOf := func(e *entry) slots {
		name, most := in.feed(e.feed), in.FeedServers
		if name == "" {
			return nil
		}
		if _, there := feeds[name]; !there {
			feeds[name] = newSlots(most, len(l.entries), first)
		}
		return feeds[name]
	}
	for _, e := range l.entries {
		if e.taken(now, in) {
			at := e.free(now, in)
			if e.ordered.Before(e.granted) {
				at = now.Add(in.Window) // it is to be sent its On soon
			}
			rack.use(first, at)
			feedOf(e).use(first, at)
		}
	}
	for _, e := range l.queue() {
		at := first
		for _, s := range []slots{rack, feedOf(e)} {
			if next := s.next(); next.After(at) {
				at = next
			}
		}
		if e == of {
			return at
		}
		rack.use(at, at.Add(in.Window))
		feedOf(e).use(at, at.Add(in.Window))
	}
	return first
}

// slots are the times from which on each place of a rack or a feed is free, in their order; nil has no bound.
type slots []time.Time

// newSlots are so many places that are free; nil where there are as many as servers.
func newSlots(most, servers int, free time.Time) slots {
	if most <= 0 || most >= servers {
		return nil
	}
	return slices.Repeat(slots{free}, most)
}

// next is when there is a place; zero where there is one at any time.
func (s slots) next() (at time.Time) {
	if len(s) > 0 {
		at = s[0]
	}
	return at
}

// use takes the place at a time that was free for the shortest, until another; those that were free before stay for
// others.
func (s slots) use(at, until time.Time) {
	if len(s) == 0 {
		return
	}
	i := len(s) - 1
	for i > 0 && s[i].After(at) {
		i--
	}
	s[i] = until
	slices.SortFunc(s, time.Time.Compare)
}
