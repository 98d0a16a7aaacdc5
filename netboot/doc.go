// Package netboot says what the boot servers need from the agent that runs
// them: a [Resolver] that answers who may boot what without waiting for
// anything remote, a [LeaseStore] that is durable, and an [Evidence] sink. A
// [Servicer] adds what a DHCP server does on a segment, and for whom it keeps which
// address; a [Notice] is what a server saw that somebody should know. A LeaseStore of [Lease6]
// keeps what is leased over IPv6.
// Servers decide nothing about policy: they parse, ask, and answer on the wire.
package netboot
