// Package explore goes through all states that a model can come to, the nearest first, and finds the shortest way to one
// that is wrong.
//
// A model is a comparable value without pointers and a function that gives the states after it. States are told apart by
// a hash of 64 bits under a key of each run: two of ten million states have the same hash in three runs of a million,
// and then one of them is not looked at.
package explore
