// Package bmc says what the agent needs from a board management controller:
// dated raw reads of one system, a boot override that is written and read back,
// and a reset. Implementations own every quirk; callers own every decision.
package bmc
