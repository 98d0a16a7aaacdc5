// Package convert turns what other tools know of servers into Rackboot's manifests, and says of each
// field of the input what became of it. It is the core that the readers below share, one package for each
// tool: a reader marks the fields that it understands, and [Object.Close] reports all others, so that
// nothing is dropped silently.
//
// Nothing here asks a hub, opens a file or reads a clock: the same input gives the same manifests and the
// same report. A report names fields and never has a value of one.
package convert
