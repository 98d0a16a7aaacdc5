// Package auditcopy has the audit logs of all hubs that share a store. Each hub's log is in its own folder (package
// audit), which is what an answer waits for. Its entries also go to a stream on the servers that keep the store, from
// which every hub reads the others' logs, also that of a hub whose disk is gone.
//
// # The stream
//
// It has a subject for each hub. A record is a run of lines of the hub's log, as they stand in its files, up to 64 KiB; an
// entry that begins a segment begins a record. Each record is written only after the one that this hub knows to be its
// last: of two programs under one name one is refused, and nothing comes twice or out of order.
//
// A copy goes on from what the stream has, which is read at the start and after each conflict, and held to the files
// first ([compare]). Where the two differ nothing is written, and the log, a metric and rackctl audit list say so.
//
// The store's record of a log's head ([rackboot/hub/audit.Heads]) follows the copy: what other hubs sign of a log is in the
// stream then, so that an export up to one place in the stream has all that is signed in it. A copy that has stopped
// holds it up for [headWait], no longer.
//
// # What is bounded
//
// Nothing is queued: what is not copied is in the files. A record has at most 256 entries, a page that is read 64
// records, a list looks at 5,000 entries.
//
// # Goroutines
//
// Start starts two: one copies, one looks for the others' heads. Close ends both.
package auditcopy
