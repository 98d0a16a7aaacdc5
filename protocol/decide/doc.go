// Package decide holds every decision about a server as pure functions: what to
// persist, what to send to its BMC, what to answer its boot client, and where it
// stands. Time is an argument, randomness is handed in, and nothing is read or
// written; a test over the syntax tree keeps clocks, files and the network out.
//
// Each rule is a table in a comment above its function. A test reads the tables
// and compares them with the functions for every combination of inputs, so the
// comment is the documentation and cannot drift.
//
//	goal.go     who wins: hold, release, reboot, claim
//	stop.go     soft and hard stops until Off was read
//	attempt.go  one power-on: arm, read back, power, consumed, fetched, ended
//	boot.go     first boot by grant, later boots from disk
//	fence.go    receipts from dated reads
//	trigger.go  the predicates of seed 002: pendingRebootSince, lastPoweredOn
//	request.go  one-shot reboots and power-offs: accepted; follow.go how they end
//	expiry.go   times to live, and what of a hold cannot be read
//	firmware.go work that must not be interrupted, and the last check before sending
//	confirm.go  an operator's word that a server is down
//	media.go    images in a BMC's drives: inserted before the override, ejected after the end
//	guard.go    what a held server does when mains power returns
//	holdstate.go where a held server stands, for people
//	audit.go    events of power orders, their answers, and what was seen
//	renew.go    what a rolled-back disk says no more
//	sync.go     what to make of a word of the hub
//	serve.go    the answer to a boot client
//	discovery.go the end of a discovery
//	stranger.go whom a machine is taken for that nobody named
//	phase.go    Initial, Discovery, Available, Reserved, Maintenance, Releasing, Error
//	unexpected.go power transitions without an order, and what shows them
//	progress.go what BootProgress shows of them
//	safestop.go where a server stands that came on so
//	resume.go   an operator's resume of one
//	observe.go  what a read of the BMC changes; evidence.go what a boot client changes
package decide
