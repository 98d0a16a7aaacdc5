// Package protocol holds the words that the hub, the agents, rackctl and what runs on servers
// share: error codes and errors, names, digests and durations, the order of documents, the line of
// the audit log, and what is seen of a machine, its BMC and its boot clients. It imports the
// standard library only and does no I/O.
//
// What people write and read is in package resource, what is signed and sent in package message.
// Both import this one, message imports resource, and nothing goes the other way round. Drivers
// of BMCs, servers of boot files, stores and what runs on servers have no more than this one.
//
// # Words
//
// Three words are used everywhere for a hold, and mean exactly this:
//
//   - Accepted: the hold is durable in the hub's store.
//   - Enforced: the hold is fsynced at the agent; from here on it survives the
//     hub, the broker, the network and the agent's own crash.
//   - Fenced: a receipt exists, which proves that every process that ran
//     before the hold was enforced has been stopped.
//
// # Versions
//
// [Version] is one integer. History:
//
//	1  of release 0.1.0
//
// Versions that are next to each other work together. Within a version, capabilities say what an
// agent can do.
package protocol

// Version is the version of what goes between hub and agents.
// It grows by one with each release that changes them; see the package comment.
const Version = 1
