// Package rollouts carries the roll-outs of server groups out, as package plan/rollout says: which servers are ordered
// to boot a revision, what becomes of each order, and the return where one fails.
//
// The status of a roll-out is stored before anything follows from it. Seats are given in the turn of groups alone.
package rollouts
