package status

import (
	"fmt"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// readSeen is what the hub knows of the last read of a server that is on its agent's disk.
type readSeen struct {
	at    time.Time // by the hub's clock; zero where none is known
	since time.Time // what the age counts from: without a read, when it could first have been told
	age   time.Duration
	bound time.Duration
}

// stale says whether what is said of the server may have ceased to be so.
func (r readSeen) stale() bool { return r.age > r.bound }

// text is it for people.
func (r readSeen) text() string {
	if r.at.IsZero() {
		return fmt.Sprintf("no read of the server is known, for %s", r.age.Round(time.Second))
	}
	return fmt.Sprintf("the last recorded read is %s old, more than three polls (%s)", r.age.Round(time.Second), r.bound.Round(time.Second))
}

// when is at for a status.
func (r readSeen) when() *time.Time {
	if r.at.IsZero() {
		return nil
	}
	at := r.at
	return &at
}

// readOf is that of a server of a rack. Its age grows by the hub's clock, whether its
// agent, the link or the BMC is silent.
func (c *Room) readOf(server, rack string) readSeen {
	poll := time.Duration(0)
	if r, err := store.Peek[*resource.Rack](c.cfg.Objects, rack); err == nil {
		poll = r.Spec.PollInterval.D()
	}
	return c.readAt(server, poll)
}

func (c *Room) readAt(server string, poll time.Duration) readSeen {
	r := c.cfg.Reports.Read(server)
	out := readSeen{at: r.At, since: c.since(r.First)}
	if !r.At.IsZero() {
		out.since = r.At
	}
	out.bound, out.age = resource.StaleAfter(poll, r.Took), c.cfg.Clock().Sub(out.since)
	return out
}
