// Package store is the hub's typed store of resources over a compare-and-set
// key-value store and an append-only log.
//
// # Nouns
//
// [Store] opens, follows what others write and has a type for each noun, as a field: Objects are the
// resources of all kinds, Sets writes several at once as people apply or import them, and the others have
// what is particular to one kind, such as Holds, or keys of their own, such as Ledgers. Who needs one noun
// is given that. All stand on core, which has the key-value store with its mirror and the ways to write.
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
//	rule.<what>.<of>      who has what one alone may have, as a JSON list; see rulesOf
//
// Reads come from a mirror in memory that [Store.Run] feeds from the watch. Each
// revision is decoded once. [List] and [Peek] share what was decoded with everybody
// else, so that nobody may change it; [Get], [Copies] and [Copy] make copies.
// [Find] and [Referring] ask the mirror's indexes, which each change keeps, so that who
// looks for some resources does not list a kind.
// A write is a compare-and-set; when it has succeeded the mirror has it before
// the call returns, so that a caller reads its own writes.
//
// # Rules over several resources
//
// Several hubs may write one store, so nothing rests on a lock of a process. Who writes reads the
// mirror, judges, and commits with the revisions of what was judged; who has lost
// judges again.
//
//   - What only one may have is a key of its own (rule.go), in the commit that writes the resource.
//     All writes of resources and requests go through transact, which makes these keys' ops.
//   - What refers to something new checks its revision in the same commit (reference.go).
//   - Who must know everybody who refers to a resource, to delete it or to give a server another
//     BMC, closes it first (closed.go).
//   - Bounds, such as the holds that a rack's document has room for, are exact within one hub.
//
// # Crashes
//
// What belongs together is one commit, which a crash does not cut off. What is not is written
// such that running it again completes it:
//
//   - Apply checks the whole set before it writes, and is one commit. A set that is larger
//     than a commit may be is several, in the order of resource.Kinds, in which a
//     resource comes after those that it refers to. After a crash some of them are stored, in
//     which every reference and every rule holds; the same Apply again finds those unchanged and
//     writes the rest. Import is the same, in the order of [ImportKinds].
//   - Holds.Create is one commit, of the hold and its rule. It finds a hold that a crash left unanswered by its owner,
//     key and server, and answers with it.
//   - Release and ConfirmDown of Holds, KeepStub and Rewrap of Secrets, and Put of Approvals, Ledgers,
//     Credentials, Envs, ISOs and Meta write one key, and so does Objects.Put where what a resource has
//     and refers to stays.
//   - Delete closes the resource and then deletes it. A crash between leaves it closed, which is taken
//     back by whomever it keeps waiting, and changes nothing for anybody else.
//   - Begin and End of Answers write one key each. What a crash cut off between them
//     stays begun, and is answered as unknown.
//   - Claims.Delete writes metadata.deletedAt and releases holds, where it is asked to, in
//     one commit. The deletion is finished with Objects.Remove by whoever proves that
//     the server is Off.
//
// When the store is opened, the keys of rules are held against the resources, and written where
// they differ.
package store
