// Package auditlog is the format of the hub's audit log and of its exports, and says
// whether one is what the hub has written. It needs nothing but the bytes and the hub's
// public keys.
//
// # Lines
//
// A log is lines of JSON, one [protocol.AuditEntry] each, in the one form of RFC 8785:
// keys sorted, no white space. Numbers go up by one. An entry names the hash of the one
// before (prev) and its own (hash):
//
//	hash = "sha256:" + hex(SHA-256(the line without hash and signed))
//
// so that with other tools
//
//	jq -cjS 'del(.hash, .signed)' | sha256sum
//
// gives the hash of a line.
//
// # Checkpoints
//
// Who may write to the file may compute hashes. Entries of the log's own (audit-segment,
// audit-torn, audit-break, audit-checkpoint) are therefore signed: signed is a
// [Checkpoint] in an envelope of package wire, sealed for [TopicCheckpoint], that names
// the entry's own number and hash, and with it all that stands before. Each segment
// file begins with one, so that those before it can be taken away.
//
// Where hubs share a store, each has a log of its own, and a checkpoint also has [Known]: the name of the hub that
// wrote it, and the last entries of the other hubs' logs that it knew. So a tail that is cut off one hub's log later is
// missed by the others'. A reader that knows nothing of that passes it over, and verifies as before.
//
// # Exports
//
// An export is a run of such lines that begins where a segment does, and one more line
//
//	{"end":"<base64>"}
//
// with an [End] sealed for [TopicEnd]. It names the first and the last entry of the
// export. It is in no log, so no shorter export can be made of a longer one. An older
// export is one all the same; [History.Follows] compares two.
//
// An export of a site has the logs of all hubs that share a store, one after the other, and one more line:
//
//	{"hub":"hub-1"}
//	entries of hub-1…
//	{"end":"<base64>"}
//	{"hub":"hub-2"}
//	entries of hub-2…
//	{"end":"<base64>"}
//	{"site":"<base64>"}
//
// The last one is a [SiteEnd] sealed for [TopicSiteEnd]. It names the first and the last entry of each log that is in the export,
// and the last one that the hubs' store knew of each hub, also of one whose log is not there. [ReadExport] verifies each log by
// itself, holds the end to them, and then each log to what the other hubs have signed of it.
package auditlog
