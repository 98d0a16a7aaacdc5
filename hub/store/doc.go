// Package store is the hub's typed store of resources over a compare-and-set
// key-value store and an append-only log.
//
// # Keys
//
//	res.<plural>.<name>   a resource as JSON, such as res.servers.r1-n3
//	res.secrets.<name>    a Secret without its data, and that encrypted
//	request.<id>          a StoredRequest as JSON
//	approval.<id>         a StoredApproval as JSON
//	ledger.<agent>        a Ledger as JSON
//	sealed.<bmc>          a Sealed as JSON
//	ignition.<config>     a SealedIgnition as JSON
//	bootenv.<config>      a SealedEnv: a line of JSON, and behind it what was sealed
//	inventory.<bmc>       an Inventory as JSON
//	answer.<caller>_<key> an Answer as JSON; the key as a digest
//	stub.<uid>-<version>  a KeptStub as JSON: user data that a group's revision names
//	iso.<sha256 of name>  an ISO as JSON: an uploaded file by the hash of its name
//	meta.<name>           bytes of the caller's, such as epochs and keys
//
// Reads come from a mirror in memory that [Store.Run] feeds from the watch. Each
// revision is decoded once. [List] and [Peek] share what was decoded with everybody
// else, so that nobody may change it; [Get], [Copies] and [Copy] make copies.
// [Find] and [Referring] ask the mirror's indexes, which each change keeps, so that who
// looks for some resources does not list a kind.
// A write is a compare-and-set; when it has succeeded the mirror has it before
// the call returns, so that a caller reads its own writes.
//
// # Crashes
//
// What belongs together is one commit, which a crash does not cut off. What is not is written
// such that running it again completes it:
//
//   - Apply checks the whole set before it writes, and is one commit. A set that is larger
//     than a commit may be is several, in the order of protocol.Kinds, in which a
//     resource comes after those that it refers to. After a crash some of them are stored, in
//     which every reference holds; the same Apply again finds those unchanged and writes the rest.
//   - CreateHold, ReleaseHold, ConfirmDown, CreateRequest, Put, PutRequest, PutApproval, PutLedger, PutSealed, PutEnv,
//     PutISO, KeepStub, Rewrap and PutMeta write one key. CreateHold finds a hold that a crash left unanswered by its owner,
//     key and server, and answers with it.
//   - Import judges the whole set before it writes, one key for each object, holds before
//     what starts their servers and configurations before their claims. After a crash
//     the same Import finds what is written unchanged, and writes the rest.
//   - BeginAnswer and EndAnswer write one key each. What a crash cut off between them
//     stays begun, and is answered as unknown.
//   - DeleteClaim writes metadata.deletedAt and releases holds, where it is asked to, in
//     one commit. The deletion is finished with Remove by whoever proves that
//     the server is Off.
//
// # One hub
//
// The rules over several resources (references, unique MAC addresses and
// systems) are checked under a lock of this process against the mirror. They
// hold while one hub writes; a second writer is noticed per key only.
package store
