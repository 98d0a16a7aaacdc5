// Package simulate is the command line of rackboot-sim.
package simulate
