package discover

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"rackboot/netboot"
	"rackboot/protocol/resource"
)

const (
	// MaxFound bounds what is kept: a report of so many, at their longest, leaves room
	// for the servers beside them.
	MaxFound = 512
	// keepFor is how long what is not seen any more, and holds no lease, is kept.
	keepFor = 24 * time.Hour
	// readEvery is the time between two reads of a service root that was read.
	readEvery = time.Hour
	// readAgain is the pause after a failed read, doubled up to readEvery: a BMC that
	// starts asks for its lease minutes before it answers.
	readAgain = 30 * time.Second
)

// entry is a BMC that was found.
type entry struct {
	resource.FoundBMC
	addr  netip.Addr
	since time.Time // when it was known to have the address
	// Of one that holds a lease:
	until   time.Time // when it ends
	read    time.Time // when to read the service root
	pause   time.Duration
	reading bool
}

// table is what was found, by MAC address, else by address. No two have the same
// address.
type table map[string]*entry

// leased takes a lease on a segment that has BMCs. full says that there was no room.
func (t table) leased(seg resource.SegmentIntent, l netboot.Lease, now time.Time) (changed, full bool) {
	e := t[l.MAC]
	if l.Declined || !l.Expires.After(now) || !askable(seg, l.Address) || e != nil && l.Expires.Before(e.until) {
		return false, false // over, or older than what is known; the store keeps such
	}
	if old := t.at(l.Address); old != nil && old != e { // whoever had the address has it no more
		delete(t, old.key())
		changed = true
	}
	switch {
	case l.Server != "" || !netboot.IsBMC(seg, l.MAC):
		delete(t, l.MAC)
		return changed || e != nil, false
	case e != nil && e.addr == l.Address && e.Segment == l.Segment:
		e.At, e.until = later(e.At, seen(seg, l, now)), l.Expires
		return changed, false
	case e == nil && !t.room(seg, l.MAC):
		return changed, true
	}
	t[l.MAC] = &entry{
		FoundBMC: resource.FoundBMC{
			Segment: l.Segment, By: resource.FoundByLease, MAC: l.MAC, Address: address(l.Address), At: seen(seg, l, now),
		},
		addr: l.Address, since: now, until: l.Expires, read: now,
	}
	return true, false
}

// seen is when a lease was granted.
func seen(seg resource.SegmentIntent, l netboot.Lease, now time.Time) time.Time {
	if at := l.Expires.Add(-seg.LeaseTime); at.Before(now) {
		return at
	}
	return now
}

// answered takes the answer of an address. One that nobody has a lease for is of a
// scan, and counts only if it was a service root.
func (t table) answered(seg resource.SegmentIntent, a answer, now time.Time) (changed, full bool) {
	e := t.at(a.addr)
	switch {
	case e != nil && e.Segment != seg.Name:
		return false, false
	case e != nil && a.asked.Before(e.since):
		e.reading = false
		return false, false // it may be the answer of who had the address before
	case e == nil:
		if a.result != resultRoot || !scanned(seg, a.addr) {
			return false, false
		}
		if !t.room(seg, "") {
			return false, true
		}
		e = &entry{FoundBMC: resource.FoundBMC{Segment: seg.Name, By: resource.FoundByScan, Address: address(a.addr)}, addr: a.addr, since: now}
		t[e.key()] = e
	}
	was := e.FoundBMC
	if a.fingerprint != "" {
		e.At, e.Fingerprint = later(e.At, now), a.fingerprint
	}
	e.Problem = a.problem
	if a.result == resultRoot {
		e.Vendor, e.Product, e.UUID, e.Redfish = a.root.vendor, a.root.product, a.root.uuid, a.root.redfish
		e.pause = readEvery
	} else {
		e.pause = min(max(2*e.pause, readAgain), readEvery)
		if was.Problem == "" {
			e.pause = readAgain
		}
	}
	e.reading, e.read = false, now.Add(e.pause)
	was.At = e.At
	return e.FoundBMC != was, false
}

// room says whether there is a place for one more. A BMC that was accepted by its
// MAC address gets the place of whoever was not seen for longest and was not
// accepted so: those can be invented by anybody on the segment.
func (t table) room(seg resource.SegmentIntent, mac string) bool {
	if len(t) < MaxFound {
		return true
	}
	accepted := func(mac string) bool { return mac != "" && slices.Contains(seg.BMCMACs, mac) }
	if !accepted(mac) {
		return false
	}
	var oldest *entry
	for _, e := range t {
		if !accepted(e.MAC) && (oldest == nil || e.At.Before(oldest.At)) {
			oldest = e
		}
	}
	if oldest == nil {
		return false
	}
	delete(t, oldest.key())
	return true
}

// keep forgets what no segment has a rule for.
func (t table) keep(segments map[string]resource.SegmentIntent) (changed bool) {
	for key, e := range t {
		seg, ok := segments[e.Segment]
		if ok && e.By == resource.FoundByLease {
			ok = netboot.IsBMC(seg, e.MAC) && askable(seg, e.addr)
		} else if ok {
			ok = scanned(seg, e.addr)
		}
		if !ok {
			delete(t, key)
			changed = true
		}
	}
	return changed
}

// expire forgets what is gone.
func (t table) expire(now time.Time) (changed bool) {
	for key, e := range t {
		if !now.Before(e.until) && now.Sub(later(e.At, e.until)) >= keepFor {
			delete(t, key)
			changed = true
		}
	}
	return changed
}

// due returns entries whose service root is to be read, at most n, and marks them;
// and when the next one is due, at most d from now.
func (t table) due(now time.Time, n int, d time.Duration) (due []entry, next time.Duration) {
	next = d
	for _, e := range t {
		switch {
		case e.By != resource.FoundByLease || e.reading:
		case e.read.After(now):
			next = min(next, e.read.Sub(now))
		case len(due) < n:
			e.reading = true
			due = append(due, *e)
		}
	}
	return due, next
}

// at is who has an address; nil if nobody is known to.
func (t table) at(addr netip.Addr) *entry {
	for _, e := range t {
		if e.addr == addr {
			return e
		}
	}
	return nil
}

func (t table) found() []resource.FoundBMC {
	var all []*entry
	for _, e := range t {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *entry) int {
		if c := strings.Compare(a.Segment, b.Segment); c != 0 {
			return c
		}
		return a.addr.Compare(b.addr)
	})
	var found []resource.FoundBMC
	for _, e := range all {
		found = append(found, e.FoundBMC)
	}
	return found
}

func (e *entry) key() string {
	if e.MAC != "" {
		return e.MAC
	}
	return e.addr.String()
}

func address(a netip.Addr) string { return "https://" + a.String() }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
