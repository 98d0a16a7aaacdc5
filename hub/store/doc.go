// Package store is the hub's typed store of resources over a compare-and-set
// key-value store and an append-only log.
//
// # Keys
//
//	res.<plural>.<name>   a resource as JSON, such as res.servers.r1-n3
//	request.<id>          a StoredRequest as JSON
//	ledger.<agent>        a Ledger as JSON
//	inventory.<bmc>       an Inventory as JSON
//	meta.<name>           bytes of the caller's, such as epochs and keys
//
// Reads come from a mirror in memory that [Store.Run] feeds from the watch. Each
// revision is decoded once. [List] and [Peek] share what was decoded with everybody
// else, so that nobody may change it; [Get], [Copies] and [Copy] make copies.
// A write is a compare-and-set; when it has succeeded the mirror has it before
// the call returns, so that a caller reads its own writes.
//
// # Crashes
//
// The key-value store has no transaction over several keys, so each operation
// is written such that running it again completes what a crash cut off:
//
//   - Apply checks the whole set before it writes, and writes in the order of
//     protocol.Kinds, in which a resource comes after those that it refers to.
//     After a crash a prefix is stored, in which every reference holds; the same
//     Apply again finds that prefix unchanged and writes the rest.
//   - CreateHold, ReleaseHold, ConfirmDown, CreateRequest, Put, PutRequest, PutLedger and PutMeta write one
//     key. CreateHold finds a hold that a crash left unanswered by its owner,
//     key and server, and answers with it.
//   - DeleteClaim writes metadata.deletedAt, and only then releases holds where it
//     is asked to, so that the server stays off throughout; the same again releases
//     what a crash left. The deletion is finished with Remove by whoever proves that
//     the server is Off.
//
// # One hub
//
// The rules over several resources (references, unique MAC addresses and
// systems) are checked under a lock of this process against the mirror. They
// hold while one hub writes; a second writer is noticed per key only.
package store
