// Package bootspan says which spans an attempt to boot a server was: one for the whole attempt, one below it for each
// stage. It is pure: facts go in, spans come out, and the same facts give the same spans with the same IDs. Who sends
// them is another package.
package bootspan
