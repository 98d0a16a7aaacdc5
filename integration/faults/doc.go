// Package faults tests the link between a hub and its agents against everything
// that a network, a broker, a crash and an old copy of a disk can do to it. The
// real hub control and the real agent run in one synctest bubble, so that hours of
// simulated time cost nothing; there are no sockets and no files but the boot
// file. Servers are simulated BMCs that count what they were made to do.
//
// One checker, the book, holds what was promised to people and compares it with
// the disks of both ends and with the orders at the BMCs:
//
//   - an accepted request ends as done, unknown, expired or refused, and the hub
//     says so;
//   - a request cycles its server at most once, and never begins after its notAfter;
//   - no document is applied that is older than the one in force;
//   - a hold leaves the agent's disk only after its release was accepted, and
//     nothing powers a held server on;
//   - a grant is used by one disk, and no more often than it allows.
//
// It excuses two things, which nobody can know: what an agent did alone before an
// old copy of its disk came back that has everything the hub was told of, and what
// was given in a history that hub and agent have both lost.
//
// [TestFaultTable] has one row for each fault, over MQTT. [TestRandomInterleavings]
// mixes all of them, without a broker: messages wait in a bag, out of which the
// test takes them in any order.
//
// # Replay
//
// A failure prints its seed and its last steps. The seed fixes what people, the
// network and the disks do:
//
//	go test ./integration/faults -run RandomInterleavings -seed=4711
//	go test ./integration/faults -run FaultTable/partition -seed=4711
//
// The order of goroutines and the jitter of the code under test are not of the
// seed, so a rare failure may need -count=20. RACKBOOT_TEST_LOG=1 prints the logs of
// all processes, in simulated time. More steps: -steps=1000000; -keep-going does not
// stop at the first failure.
package faults
