package bmc

import (
	"context"

	"rackboot/protocol"
)

// Lister lists the systems behind a BMC.
type Lister interface {
	// Systems are the paths of the systems with a reset and boot settings, in the
	// BMC's order: at least one, or the error says that there is none.
	Systems(ctx context.Context) ([]string, error)
}

// Inventorier reads what a server consists of. It never delays power control.
type Inventorier interface {
	// Inventory reads all parts. A part that cannot be read is in Problems and does
	// not fail the others; the error is for a system that cannot be read at all.
	Inventory(ctx context.Context) (protocol.Inventory, error)
}

// Prober finds out what a BMC can do, by reads alone.
type Prober interface {
	// Probe reads everything that Rackboot may ever use. uri stands where an HTTP
	// boot URI would be written; empty is a placeholder. As with Inventory, the
	// error is for a system that cannot be read at all.
	Probe(ctx context.Context, uri string) (protocol.Probe, error)
}
