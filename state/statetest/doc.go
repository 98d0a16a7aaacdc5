// Package statetest proves implementations of the contracts in package state,
// and flows that are built on them.
//
// # Conformance
//
// [TestStore], [TestKV] and [TestLog] are suites that every implementation
// passes. Each takes a function that opens a fresh, empty store.
//
// # Crashes
//
// A flow that must survive a crash marks the places between two durable steps
// with [state.Crasher.At]. [Points] runs the flow once in a child process to
// learn which points it passes, in order, and then once per passage in a new
// directory, where the child kills itself with SIGKILL at that passage. After
// each the parent calls check, which opens what is left and looks:
//
//	func TestClaimSurvivesCrash(t *testing.T) {
//		statetest.Points(t, func(run statetest.Run) {
//			s := openStore(run.Dir, run.Crash)
//			claim(s, "a")
//			run.Ack("a") // from here on the claim may not be lost
//		}, func(t *testing.T, k statetest.Kill) {
//			s := openStore(k.Dir, nil)
//			// whole or not at all; and whole if k.Acked holds "a"
//		})
//	}
//
// [NewChild] is for flows that do concurrent work, or whose surroundings live in
// the parent and survive: [Child.KillAt] kills at the n-th passage of one named
// point, whatever else the flow passes meanwhile; [Child.Start] lets the test go
// on beside it.
//
// [KillAfter] is for code without points: the parent kills the child from
// outside, at whatever it is doing when the n-th acknowledgement arrives.
//
// The child is the test binary itself, started again with -test.run set to the
// test that called. Code before the call therefore runs in the child too, and
// code after it does not. A test makes one such call; use t.Run for more.
//
// SIGKILL ends the process, not the kernel: it proves the order of writes and
// the recovery, not that data passed the page cache.
package statetest
