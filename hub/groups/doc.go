// Package groups gives the members of server groups their boot images: it makes a group's revisions, rolls each out
// by waves, and says what its servers have booted.
//
// A turn looks at all groups. It alone gives seats of a roll-out, the first canary included; a rack's turn asks what
// its servers take and never chooses. A seat comes back only on a stored fact.
package groups
