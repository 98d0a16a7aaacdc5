// Package dhcp6 is the DHCPv6 server of one boot segment (RFC 8415, boot options of
// RFC 5970). It gives stable addresses to the machines that its [netboot.Resolver]
// knows, a file to boot clients that may boot, and a quick refusal, each in the
// client's own form, to those that may not. Machines that are not known get silence.
//
// # What the agent must provide
//
// A Resolver whose segment has an IPv6 side, a lease store, an evidence sink and a DUID
// that stays the same. The answer to a boot client has token and file; the form is made
// here: a URL for UEFI HTTP boot and iPXE, a TFTP URL for PXE firmware, so that who
// answers AnswerBoot for those must serve TFTP on the segment's IPv6 address. A refused
// client gets a URL that answers 404, or error 1 by TFTP, at once.
//
// # Identity
//
// A machine is the MAC address that the relay next to it saw (RFC 6939), else that of
// its DUID, else that of its link-local address, and the UUID of its DUID, which the
// resolver compares in both byte orders. It has one address, whatever DUIDs and
// IAIDs its firmware, loader and system use: EDK2 would take two leases in each boot,
// and releases one of them while it loads, so that the address is free when the last
// IA that has it gives it back.
// More than one IA_NA in a message, temporary addresses and prefixes get the status
// that there are none.
//
// # Order of effects
//
// A REPLY that grants an address is sent only after [netboot.LeaseStore6] has the
// lease on disk. Advertised addresses are held in memory, for [leasing.OfferHold]; an address
// is chosen by a hash of the identity, so that a restart in between most often finds
// the same one.
//
// # The answer is frozen
//
// UEFI HTTP boot takes the URL from the ADVERTISE. The resolver's answer is therefore
// kept per machine and class from a SOLICIT on for [leasing.FreezeFor], also for the REQUEST,
// which has another transaction ID; the next SOLICIT asks again. Silence is not kept,
// because nothing was promised. Who is offered the same boot in more than
// [leasing.MaxOffers] exchanges is refused for a while.
//
// # Routers
//
// Firmware learns its route from router advertisements, not from DHCPv6, and waits 10
// s for one with a default route; then it tries what is in its own /64. Linux, which
// gets an address without a prefix from DHCPv6, has no route at all without. With
// CAP_NET_RAW the server asks the segment's routers for one every [routerCheck], and
// tells where none comes or none sends clients here. It does not advertise itself.
//
// # Limits
//
// Messages wait in a queue of [leasing.QueueLength] for an answer, [workerCount] of them in work at once; one that
// finds the queue full is dropped and counted. At most [maxBindings] machines are
// remembered, at most [maxGuests] of which are not ours, with their half of a small
// pool; at most [maxResting] declined addresses rest. Reconfigure, authentication,
// leasequery and prefixes are not served.
package dhcp6
