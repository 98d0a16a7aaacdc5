// Command storm runs a site as processes, damages it in every way that it knows while
// operators work with it by rackctl, and says of each fault and each promise whether it was
// kept. See docs/TESTING.md.
//
//	operator.go  what operators do, each at servers of its own
//	poll.go      what is stored, read by the API again and again
//	fault*.go    the faults, one family a file
//	plan.go      which fault when, out of a seed
//	run.go       the storm
//	table.go     fault by promise, and what is known to break
package main
