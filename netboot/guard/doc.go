// Package guard is what the boot servers of several protocols share: sockets that nobody
// else can share ([Listen]), who is asked for on a segment of which role ([Decide]), boots
// that repeat themselves without end ([Loops]), and metrics that a registry takes as one
// ([Collectors]).
package guard
