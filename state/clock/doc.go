// Package clock is where the daemons take the time from: the host's clock.
//
// With the build tag storm it is a clock whose wall reading can be stepped from outside of
// the process, for tests of whole sites; see step.go. Nothing of that is in a program that
// is built without the tag.
package clock
