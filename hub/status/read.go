package status

import (
	"fmt"
	"time"

	"rackboot/hub/reports"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// Read is what the hub knows of the last read of a server that is on its agent's disk.
type Read struct {
	At    time.Time     // by the hub's clock; zero where none is known
	since time.Time     // what the age counts from: without a read, when it could first have been told
	Age   time.Duration // by the hub's clock
	bound time.Duration
}

// Stale reports whether what is said of the server may have ceased to be so.
func (r Read) Stale() bool { return r.Age > r.bound }

// text is it for people.
func (r Read) text() string {
	if r.At.IsZero() {
		return fmt.Sprintf("no read of the server is known, for %s", r.Age.Round(time.Second))
	}
	return fmt.Sprintf("the last recorded read is %s old, more than three polls (%s)", r.Age.Round(time.Second), r.bound.Round(time.Second))
}

// when is at for a status.
func (r Read) when() *time.Time {
	if r.At.IsZero() {
		return nil
	}
	at := r.At
	return &at
}

// readOf is that of a server of a rack. Its age grows by the hub's clock, whether its
// agent, the link or the BMC is silent.
func (c *Room) readOf(server, rack string) Read {
	poll := time.Duration(0)
	if r, err := store.Peek[*resource.Rack](c.cfg.Objects, rack); err == nil {
		poll = r.Spec.PollInterval.D()
	}
	return c.Read(server, poll)
}

// Read is that of a server whose rack is polled every poll.
func (c *Room) Read(server string, poll time.Duration) Read {
	return c.ReadAt(c.cfg.Reports.Read(server), poll, c.cfg.Clock())
}

// ReadAt is that of a server of which r was told.
func (c *Room) ReadAt(r reports.Read, poll time.Duration, now time.Time) Read {
	out := Read{At: r.At, since: c.since(r.First)}
	if !r.At.IsZero() {
		out.since = r.At
	}
	out.bound, out.Age = resource.StaleAfter(poll, r.Took), now.Sub(out.since)
	return out
}
