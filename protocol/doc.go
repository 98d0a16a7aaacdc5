// Package protocol holds the nouns that the hub, the agents and rackctl share:
// resources that people write, documents that the hub signs for an agent,
// reports that an agent signs for the hub, and the registries of error codes
// and conditions. It imports the standard library only and does no I/O.
//
// # Words
//
// Three words are used everywhere for a hold, and mean exactly this:
//
//   - Accepted: the hold is durable in the hub's store.
//   - Enforced: the hold is fsynced at the agent; from here on it survives the
//     hub, the broker, the network and the agent's own crash.
//   - Fenced: a resource.Receipt exists, which proves that every process that ran
//     before the hold was enforced has been stopped.
//
// # Documents and order
//
// The hub sends whole documents, never patches. A document replaces the one
// before it if and only if its [Head] (epoch, version) is newer; the same head
// with another digest is refused. A message.HoldDoc is small and sent first, a
// message.RackDoc shard carries at most message.MaxServersPerShard servers. Absence never
// releases: a hold ends only by an explicit resource.Release of its id.
//
// # Versions
//
// [Version] is one integer. History:
//
//	1  not released yet
//
// Versions that are next to each other work together. Within a version, message.Capability
// says what an agent can do.
package protocol

// Version is the version of the documents and reports of this package.
// It grows by one with each release that changes them; see the package comment.
const Version = 1
