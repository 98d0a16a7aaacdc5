package link

import (
	"context"

	"rackboot/hub/store"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Heard is what is done with what agents say of their racks.
type Heard interface {
	// Met is called when an agent has another database than before, or none was known.
	Met(ctx context.Context, rack string, peer store.Peer) error
	// SealKey takes the key that secrets are sealed for, as a Hello that is new says it.
	SealKey(ctx context.Context, agent string, key []byte) error
	// Found takes which BMCs a report names, and reports whether that is news.
	Found(r message.Report) bool
	// Told takes what is said of a server; news is that something in its report differs from the one before. What
	// cannot be filed comes again.
	Told(ctx context.Context, a *resource.Agent, s resource.ServerReport, news bool) error
	// Shown takes what is said of a server whose rack another hub works: it is shown, and nothing else.
	Shown(a *resource.Agent, s resource.ServerReport, news bool)
	// Laid takes the hold document that an agent has acknowledged.
	Laid(agent string, d message.HoldDoc)
	// Released takes that a hold is off the disk of its rack's agent.
	Released(a *resource.Agent, hold string)
}
