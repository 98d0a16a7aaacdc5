// Package top is rackctl top: racks and servers on a terminal while they change.
//
// What is drawn is made in steps. Only the first and the last do something; those between are pure.
//
//	feed    | asks the hub and makes snapshots
//	rows    | a row for each server or rack of a snapshot, with how much it matters
//	model   | which rows are shown, in which order, and which is selected
//	frame   | the lines of one screen
//	program | keys in, frames out
package top
