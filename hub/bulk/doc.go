// Package bulk works off what somebody asked of many servers at once: the list is kept, so that it outlives who asked
// and the hub's own end.
//
// A list is worked off in rounds of so many at once. After each round its results are written, in one write for each part of
// the list. A hub that ends in the middle of a round does that round again; see [Room.round] on why nothing is done twice.
package bulk
