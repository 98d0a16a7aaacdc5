// Package view reads what decisions depend on: the fleet of a rack, of the whole site, or of what is in no rack.
//
// A view shares its resources with the store: nobody changes them. Between two steps that write, a turn
// looks again.
package view
