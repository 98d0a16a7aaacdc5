// Package resource holds what people write and read with rackctl: the kinds of resources with
// their specs, statuses and checks, and what is read beside them (approvals, requests, uploaded
// files, traces, events).
//
// What an agent reports of a server is here where a status shows it, as [ServerReport],
// [Receipt] and [Provisioned] are, and so is what a resource comes to by itself: a [SegmentIntent],
// an [EnvBundle]. What goes between hub and agent as a whole is in package message, which imports
// this one; never the other way round. Codes, names, and what is seen of a machine are in package
// protocol.
//
// Whoever works with resources may import it. Drivers of BMCs, servers of boot files, stores and
// what runs on servers name none, and have package protocol.
package resource
