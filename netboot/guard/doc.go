// Package guard is what the boot servers of several protocols share: sockets that nobody
// else can share ([Listen]), logs that strangers cannot fill ([Calm]), and metrics that a
// registry takes as one ([Collectors]).
package guard
