// Package inrush spreads the power-ons of a rack's servers, so that what they draw at their start does not come at
// once. It is pure: times go in and a verdict comes out, nothing is read, and nothing waits.
//
// A [Line] has one place for each server that is switched on now, and a queue of those that wait for one:
//
//	nothing -- asks, room ---------> granted -- On is sent --> ordered -- seen On, or given up --> cooling -- Window --> nothing
//	nothing -- asks, no room ------> waiting -- room --------> granted
//	waiting -- wanted no more -----> nothing
//	granted -- given up, or [Keep] -> nothing
//
// Granted, ordered and cooling take room, of the rack and of the server's feed. An order that is sent again keeps its
// place. So at most Limit.Servers servers were sent an On within any Window, and of one feed at most Limit.FeedServers.
package inrush
