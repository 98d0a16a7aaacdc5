// Package leasing is what the DHCP servers of both IP versions do alike. A [Queue] takes
// packets from sockets to workers, [Answers] say what clients are to get, the same for all of
// an exchange, a [Table] has who has which address, and [Metrics] count. What the RFCs of the
// two say is in the servers.
package leasing
