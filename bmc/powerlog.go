package bmc

import "context"

// PowerLogger is a driver of a BMC that logs changes of power. Its calls are as those
// of [Driver].
type PowerLogger interface {
	// PowerLog names the newest entry about a power-on or a reset in the log whose
	// entries are at the URI, which an inventory's Detection gives; empty if it has none.
	// Names are compared for equality only. The codes are those of Observe.
	PowerLog(ctx context.Context, entries string) (entry string, err error)
}
