package bmc

import "context"

// Subscriber lets a BMC POST its events to an address. As with [EventSource] they are
// never evidence. Calls are made by one goroutine at a time.
type Subscriber interface {
	// Subscribe makes a subscription, or takes one that is there and enabled, and
	// returns nil once it was read back. mark is the Context that tells ours from
	// those of others: what else carries it, or is sent to the same address but for
	// the last part of the path, is deleted. That last part is a secret.
	//
	// It fails with unsupported where there are no subscriptions, invalid if the BMC
	// refuses the form, and unavailable if it holds no more.
	Subscribe(ctx context.Context, destination, mark string) error
	// Check reads whether what Subscribe made is there and enabled.
	Check(ctx context.Context) (bool, error)
	// Unsubscribe deletes it, if there is one; one that is gone is no error.
	Unsubscribe(ctx context.Context) error
}
