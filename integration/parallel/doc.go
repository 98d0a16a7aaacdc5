// Package parallel runs the tests of packages that wait more than they work: for
// simulated firmware, for BMCs that take their time, and for disks. Where they are long, it says
// when they are to try less.
package parallel
