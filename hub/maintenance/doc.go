// Package maintenance moves maintenances along: each gets its server when it is its turn, boots it by its own
// configuration, and lets it go once the server was proved Off.
package maintenance
