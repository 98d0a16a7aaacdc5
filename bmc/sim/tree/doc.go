// Package tree is what the resources of a simulated BMC say while nothing
// happens: bodies by URI, made by hand in the shape of a vendor's or loaded from
// a folder by [Load].
//
// [Tree.Survey] finds in it what lives, by its links, as a client finds it.
package tree
