// Package jetstream implements the hub's stores, [rackboot/state.KV] and
// [rackboot/state.Log], on NATS JetStream streams over a given connection. The
// server behind the connection is embedded in the hub or the operator's own
// cluster; this package cannot tell and does not care.
//
// # Layout
//
// A KV is one stream with one subject per key, "<name>.<key>", and a bounded
// history per key. The stream sequence is the revision. A deletion is a
// message with the header Rackboot-Op: delete; it is kept, so that a Watch
// that starts later still sees it, until it is forgotten.
//
// A Commit is one atomic batch (NATS ADR-50): its messages have consecutive sequences and the
// headers Nats-Batch-Id, Nats-Batch-Sequence and, on the last, Nats-Batch-Commit, which stay with
// them, so that readers take them together. Each message carries one expectation. That of a key
// which is checked and not written rides on a message of its own below "<name>.$check", in front
// of the others, whose header Rackboot-Checks says how many there are; it is no entry. Readers
// read the whole stream: a filter would hide where a batch ends.
//
// What is removed on purpose is said before, in JSON on a message below "<name>.$purged", whose newest is in
// force; see the type purged. Readers that may have missed a deletion learn there that they have.
//
// A Log is one stream with subjects "<name>.<subject>"; the stream sequence is
// the record's Seq. The stream's duplicate window makes an Append with an id
// idempotent.
//
// Both streams carry their schema version in the stream metadata key
// rackboot_schema. A stream that has none belongs to somebody else, and one
// with a newer version to a newer release; both are refused.
//
// # Durability
//
// A write returns after the server's acknowledgement. That the acknowledgement
// means "on disk" is the server's setting (jetstream sync_interval: always);
// without it a power cut, though not a crash of the process, may lose the last
// two minutes. A batch is whole after a crash, or the death of any of the servers. A single server
// that comes to its storage limit within a batch keeps half of it, and answers nobody; a cluster
// judges the whole batch first. So let no single server come to its limit.
package jetstream
