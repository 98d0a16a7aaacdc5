// Package decide holds every decision about a server as pure functions: what to
// persist, what to send to its BMC, what to answer its boot client, and where it
// stands. Time is an argument, randomness is handed in, and nothing is read or
// written; a test over the syntax tree keeps clocks, files and the network out.
//
// A decision has three layers, each in files of its own:
//
//   - Rules: functions of enums and booleans, each a table in a comment above it. A test reads the
//     table and compares it with the function for every combination of inputs, so that the comment
//     is the documentation and cannot drift. What a server that is to run needs is decided by lists
//     of named rules ([Goal], course.go, ready.go, firstboot.go); a test holds that each decides
//     something and that their order matters.
//   - Topics: small types that read clocks, the record and the snapshot for the rules, and do what they
//     say. A topic is a value that is made where it is needed, and calls only topics below it; step.go
//     has the order in which a step goes through them.
//   - The draft (draft.go): the plan, record and watch of a step. Topics write there and nowhere else,
//     each its own fields: a test says which.
//
// What is kept is in record.go, poweron.go (one power-on: its order in bootorder.go, its stage in
// bootstage.go, its marks in bootmarks.go) and residue.go (what is left at a BMC); what is only remembered
// is in watch.go; what comes in and goes out is in snapshot.go.
//
// The topics, and the files of their rules:
//
//	pursuit.go    goal.go: who wins: hold, release, reboot, claim; firmware.go: work that must not be
//	              interrupted, and the last check before sending; trigger.go: the predicates of seed 002
//	boots.go      course.go, ready.go: what becomes of an attempt, and what comes before the next;
//	              superseded.go, owner.go: other boots, other owners
//	granting.go   method.go: the boot methods; firstboot.go: what a network boot needs; bootapproval.go: and who approves it
//	attempts.go   attempt.go: one power-on: arm, power, consumed, fetched, ended; attemptcode.go: why;
//	              begin.go: how one begins, bootway.go; results.go: what the BMC answered, arm.go
//	inrush.go     place.go: whether a server waits until others were switched on
//	firmwares.go  firmwarerun.go, firmwareset.go: settings of the firmware, written and read back
//	answers.go    to whom an answer goes
//	endings.go    discovery.go: the end of an owner
//	heard.go      evidence.go, ignition.go: what a boot client changes
//	requests.go   request.go: one-shots: accepted; following.go, follow.go: how they end;
//	              resuming.go, resume.go: an operator's resume; ended.go: what is remembered of them
//	stops.go      stop.go: soft and hard stops until Off was read; forceoff.go, linger.go, look.go;
//	              destructive.go: what needs an approval; unrecorded.go: while nothing can be recorded
//	proofs.go     fence.go: receipts from dated reads; confirm.go: an operator's word
//	lifetimes.go  expiry.go: times to live, and what of a hold cannot be read
//	guards.go     guard.go: what a held server does when mains power returns
//	disarming.go  disarm.go: overrides that nothing consumed
//	rearming.go   rearm.go: the disk, armed for restarts of the operating system
//	drives.go     media.go: images: inserted before the override, ejected after the end
//	urls.go       booturl.go: URLs in BMCs
//	sightings.go  unexpected.go, reset.go, progress.go: power transitions without an order;
//	              safestop.go: where a server stands that came on so
//	identities.go identity.go: which board a server is known by
//	fallbacks.go  fallback.go: failed boots, and the configuration before
//	conditions.go what people are to know
//
// Beside a step: serve.go and stranger.go answer boot clients, holdstate.go and phase.go say where a
// server stands, renew.go is for disks that were rolled back, and account.go, certificate.go,
// clocks.go, fleetclock.go, sync.go, arrival.go and trial.go decide about an agent and its rack.
package decide
