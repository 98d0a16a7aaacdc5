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
// # Exports
//
// An export is a run of such lines that begins where a segment does, and one more line
//
//	{"end":"<base64>"}
//
// with an [End] sealed for [TopicEnd]. It names the first and the last entry of the
// export. It is in no log, so no shorter export can be made of a longer one. An older
// export is one all the same; [History.Follows] compares two.
package auditlog
