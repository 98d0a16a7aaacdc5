// Package parallel runs the tests of packages that wait more than they work: for
// simulated firmware, for BMCs that take their time, and for disks.
package parallel
