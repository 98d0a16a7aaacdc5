// Package heads says what a store had at one moment, so that one which has less is known by it: a
// [Checkpoint] counts and sums the live keys of each kind, and the names beside it ([Record]) say which
// they were. [Judge] compares them with what a store has when it is opened; [Compare] compares two
// checkpoints, such as one that somebody else has kept.
//
// # File
//
// A record is a text that is only added to. Each line is the CRC-32 of what follows, in hex, a space, and
// one of
//
//   - KEY REVISION SUM NOTE   the key is there; the note is quoted, and empty for most kinds
//   - KEY                     it is not there any more
//     = CHECKPOINT              everything before is so, as JSON
//
// What follows the last whole checkpoint is what a crash left. The names are believed only if their sums are
// those of the checkpoint.
//
// The package is pure: it reads and writes no files.
package heads
