// Package audit is the hub's audit log on disk: append-only, each entry chained to the
// one before by its hash, checkpoints signed by the hub. The format of lines and the
// check of exports are in package auditlog, which needs no hub.
//
// # Files
//
// The folder is 0700. It holds segments, 0600, named for the number of their first entry:
//
//	00000000000000000001.jsonl   audit-segment, entries…
//	00000000000000048211.jsonl   audit-segment, entries…   <- written
//	.new-*                       a segment that a crash left unborn; removed at start
//
// A segment appears by a rename, complete with its first line, which is signed; so an
// operator may move the oldest ones away, and what is left still verifies. Nothing here
// deletes or changes a line.
//
// # Durability
//
// Append returns when the entry is fsynced; callers that come at once share an fsync. An
// entry that was refused as unavailable may be on disk all the same if the hub dies
// before it can cut it off. A write that fails, as on a full disk, is cut off again
// before the next one; Append works again when there is room.
//
// # At start
//
//	the newest segment                | what is done
//	fits                              | it is gone on with
//	fits but for an incomplete line   | a new segment begins with audit-torn; the line stays
//	does not fit                      | a new segment begins with audit-break; all stays
//	there is none                     | the log begins with entry 1
//	lacks what the kept head knows    | a new segment begins with audit-break, with the number after that
//
// The head is kept elsewhere too, in the hub's store, at most a second after it moved and when
// the log is closed; an entry is in its file first. So files that are shortened between two
// entries, and a newest segment that is gone, are known by it ([Heads]).
//
// The older segments are checked by Check, in the background; one that does not fit is
// noted by a new segment with audit-break too, once. Of what was broken the metric
// rackboot_hub_audit_broken_segments and the log tell at each start.
//
// # Goroutines
//
// Open starts one, which alone writes; it owns a queue of [maxWaiting] entries; and one that
// keeps the head. Close ends both.
package audit
