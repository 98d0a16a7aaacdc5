// Package wake knows the units of work, whose turn it is, and whom a change wakes.
//
// A unit is a rack, or the site: what concerns several racks at once. The hold document of each rack
// has turns of its own, which wait for nothing else. What is written to the store wakes the units
// that decide by it, and a sweep wakes each unit once a minute. A wake only says that something may
// have changed: a turn reads the present.
package wake
