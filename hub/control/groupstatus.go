package control

import "rackboot/protocol"

// decorateGroup says what the last pass has found of a group.
func (c *Control) decorateGroup(g *protocol.ServerGroup) {
	g.Status.Conditions = c.groupConds.Of(g.Metadata.Name)
	view, ok := c.groups.of(g.Metadata.Name)
	if !ok {
		return // the next pass looks at it
	}
	g.Status.ObservedGeneration = g.Metadata.Generation
	g.Status.Enrolment, g.Status.Counts, g.Status.Skew = &view.enrolment, &view.counts, view.skew
}
