// Package loaders keeps the boot loaders of a site: it reads them from the folders that
// the agent's file names, holds each whole in the blob store, and gives the boot servers
// one complete set at a time.
//
// A change is taken as a whole or not at all. The folders are looked at every 20 s; what
// differs from the set in use is taken when another look 5 s later agrees, so that a
// package that is being installed is never half of it. A file that is no loader for its architecture,
// or cannot be read, changes nothing: the set from before stays, also across a restart,
// and a condition says why.
//
// Boots that were begun keep the loaders that they were begun with: a set that was
// replaced stays in the blob store for as long as such a boot can last.
package loaders
