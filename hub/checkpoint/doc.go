// Package checkpoint keeps, beside the hub's store, what that has, and says what is missing when it is opened.
//
// The server of the store drops what it cannot read: where a block of a stream is damaged or missing, it opens what is
// left, and says so in its own log only. A hub on such a store would tell agents that holds were never placed, and that
// claims are gone. So what the store had stands in a file beside it (see [rackboot/state/heads]), some 250 to 500 ms behind
// it, and a store that has less is only read.
//
// Goroutines: none; [Keeper.Follow] is run by whoever has the store.
package checkpoint
