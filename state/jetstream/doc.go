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
// that starts later still sees it.
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
// two minutes.
package jetstream
