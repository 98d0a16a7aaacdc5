// Package rollout decides how a new revision of a group's image reaches its servers:
// which one is begun now, what counts as success, when to stop. It knows no store, no
// clock and no network; a caller calls [Step] whenever something changed and at
// [Result.RecheckAt], and each time, in this order:
//
//  1. stores Result.Status;
//  2. if Result.RollBack, makes the copy of the revision before, once (it has this one as
//     its parent), and makes it current, pinned, and the entry rejected;
//  3. stamps the entry by the boot of Result.Stamp, if there is one;
//  4. records each of Result.Orders. An order is the same as one of before if server, kind
//     and At are the same, and is recorded once. [Server.Ordered] says so in the next step.
//
// A caller that dies between any two of them loses nothing: orders follow from the status
// and are given again until they are recorded; one that may not be given any more, because
// the window has closed in between or somebody has paused, is taken back.
//
// # Phases
//
//	Waiting ── Canary ── Wave 1 … n ── Completed      stragglers are taken later
//	    └────────┴─ failure ─┴─ Paused ── resume: on, and what failed is tried again
//	                         └─ RolledBack            its servers are returned
//	  any of them: abort ── Aborted; a newer revision ── Superseded
//
// A wave ends when each of its servers that can be reached has ended. One that is held,
// dark, off or in maintenance is waited for by nobody: it stays Waiting, the next wave
// begins, and the roll-out completes without it. Whenever it is back it is begun, in a
// later wave or after Completed, which then stays Completed.
//
// # Canaries
//
// By count they are at most all but one of the claimed servers, and one of a group of one.
// Those that serve are preferred, of as many racks as there are; while the canary's wave
// lasts, one that left or cannot be begun is replaced by one that can. By labels they are
// who has the labels, and nobody replaces them. Only canaries take an entry without a
// stamp. The wave ends well when one of them is proved and the entry is stamped; it fails
// when all have ended and none is proved, whatever maxFailures says. No command goes past
// the canaries of an entry that none of them has proved.
package rollout
