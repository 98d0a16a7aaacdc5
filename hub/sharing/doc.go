// Package sharing has several hubs work on one store: it says that this hub is there, sees which others are, and takes
// what this one is to work. Package [rackboot/hub/plan/hubs] decides.
//
// Goroutines: two, of [Room.Run].
package sharing
