// Package message holds what goes over the link between hub and agents, signed: documents and
// answers of the hub, reports, events and answers of the agents, their topics, and what an agent
// can do.
//
// # Documents and order
//
// The hub sends whole documents, never patches. A document replaces the one
// before it if and only if its [protocol.Head] (epoch, version) is newer; the same head
// with another digest is refused. A [HoldDoc] is small and sent first, a
// [RackDoc] shard carries at most [MaxServersPerShard] servers. Absence never
// releases: a hold ends only by an explicit [resource.Release] of its id.
//
// Documents and reports have [protocol.Version]; within one version, [Capability] says what
// an agent can do.
//
// # Who imports it
//
// Both ends of the link, what they keep of it, and what they decide by; imports_test.go has the
// list. What people write is in package resource, which knows nothing of this one. Whoever only shows
// or asks, as rackctl and the hub's API do, has resource and protocol/api.
package message
