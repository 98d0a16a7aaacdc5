// Package state holds the contracts of the two durable stores and what every
// implementation must show: a transactional store for the agent ([Store],
// implemented by state/badger) and a compare-and-set key-value store, whose
// commits of several keys are whole, with an append-only log for the hub ([KV] and [Log], implemented by state/jetstream).
// Each contract has a conformance suite in state/statetest that runs against
// every implementation.
package state
