// Package delay is what a simulated BMC does later, and how it waits: nothing of it
// outlives the BMC.
package delay
