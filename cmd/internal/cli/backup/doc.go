// Package backup is rackctl's verbs of copies of the hub: to make one, to see whether it is whole, and to
// have one take the hub's place.
package backup
