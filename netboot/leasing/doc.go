// Package leasing is what the DHCP servers of both IP versions do alike. A [Queue] takes
// packets from sockets to workers, and [Metrics] count them. What the RFCs of the two say
// is in the servers.
package leasing
