// Package slots keeps one record on a disk that may be full: its room is taken beforehand.
//
// A [Pair] is two files of equal size, NAME.0 and NAME.1. Each has the record with a sequence
// number and a SHA-256 over both. A write puts the record into the slot that is not the newer
// one, in place, and fsyncs it; then into the other. So at any moment one slot is whole, and what
// a write that succeeded said is in both: a torn write or a damaged block of one slot loses
// nothing.
//
// Nothing is allocated while a record fits, and nothing is renamed. A record that is larger than
// its slots needs free space once, for larger ones. File systems that never write in place may
// need space for each write all the same; [Pair.InPlace] reports which those are.
package slots
