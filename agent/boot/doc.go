// Package boot is the room of boots: who a machine on a segment is, whether it may boot
// and what, through which loaders, and the boot servers that answer it. Whose turn
// it is decides package decide; the room has what that is decided by in memory, and
// hands what it saw to the loops of servers before it answers.
//
// Goroutines, all ended by the context given to Run: the DHCP, HTTP and TFTP servers
// of each segment, one that records what they noticed, and one that looks at the
// folders of loaders.
package boot
