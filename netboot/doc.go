// Package netboot says what the boot servers need from the agent that runs
// them: a [Resolver] that answers who may boot what without waiting for
// anything remote, a [LeaseStore] that is durable, and an [Evidence] sink.
// Servers decide nothing about policy: they parse, ask, and answer on the wire.
package netboot
