package groups

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol/resource"
)

// Decorate says what the last pass has found of a group.
func (c *Room) Decorate(g *resource.ServerGroup) {
	g.Status.Conditions = c.conds.Of(g.Metadata.Name)
	view, ok := c.groups.of(g.Metadata.Name)
	if !ok {
		return // the next pass looks at it
	}
	g.Status.ObservedGeneration = g.Metadata.Generation
	g.Status.Enrolment, g.Status.Counts, g.Status.Skew, g.Status.StubLimit = &view.enrolment, &view.counts, view.skew, view.limit
}

// Seen reports whether a turn has looked at a group in this run of the hub.
func (c *Room) Seen(name string) bool {
	_, seen := c.groups.of(name)
	return seen
}

// Conditions are what the last turn has found wrong with a group.
func (c *Room) Conditions(name string) []resource.ConditionState {
	return c.conds.Of(name)
}

// DueAt is when groups are to be looked at again; zero if nothing is planned.
func (c *Room) DueAt() time.Time {
	at := c.groups.due.Load()
	if at == 0 {
		return time.Time{}
	}
	return time.Unix(0, at).UTC()
}

// Without does something while no group is looked at: one whose history is not there yet would begin
// another.
func (c *Room) Without(do func() error) error {
	c.groups.importing.Lock()
	defer c.groups.importing.Unlock()
	return do()
}

// Describe implements prometheus.Collector.
func (c *Room) Describe(ch chan<- *prometheus.Desc) {
	m := c.metrics
	m.describe(ch)
}

// Collect implements prometheus.Collector.
func (c *Room) Collect(ch chan<- prometheus.Metric) {
	m := c.metrics
	m.collect(c.groups, c.conds, ch)
}
