// Package benchreport is what the benchmarks beside peers share: a table of figures with
// ratios, what the processes of a server use, and the packages of the peers.
package benchreport
