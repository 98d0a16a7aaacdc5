// Package dhcp is the DHCPv4 server of one boot segment. It gives stable
// addresses to the machines that its [netboot.Resolver] knows, a file to boot clients
// that may boot, and a quick refusal, each in the client's own form, to those that
// may not. Machines that are not known get silence.
//
// # What the agent must provide
//
// A Resolver, a lease store and an evidence sink. A Resolver that is a
// [netboot.Servicer] gives each segment its mode (full, reservations only, proxy,
// none) and its reservations. The answer to a boot client has token and file; the
// form is made here: a URL for UEFI HTTP boot and iPXE, a TFTP path
// ([netboot.TFTPPath]) for PXE firmware, U-Boot, GRUB and Raspberry Pis, so that who
// answers AnswerBoot for those must serve TFTP too. Which file fits a client is told
// by [protocol.BootClient.Arch].
//
// # Roles
//
// On a segment of role bmc the BMCs that it lists, by MAC address or by prefix, get a
// lease without boot data, and everybody else gets silence; the resolver is not
// asked. On one of role both, what the resolver does not know by its MAC address may
// be a BMC.
//
// # Identity
//
// A client is its chaddr. Option 61 never splits a machine into several leases:
// firmware sends none, iPXE sends the MAC and systemd a DUID, all from one port.
// Reservations go by MAC address, else by UUID in both byte orders, else by the port
// that a relay names in option 82; one from a client on the link is ignored.
//
// # Order of effects
//
// A REQUEST is answered with an ACK only after [netboot.LeaseStore] has the lease
// on disk; those of leases that were written together go out together. Offers are held in memory only, for [leasing.OfferHold]; an address is chosen
// by a hash of the MAC, so that a restart between OFFER and REQUEST most often
// finds the same one.
//
// # The answer is frozen
//
// UEFI HTTP boot takes address and URL from the OFFER and does not parse the ACK.
// The resolver's answer is therefore kept per MAC, class and xid for
// [leasing.FreezeFor]; silence is not kept, because nothing was promised. Who is offered the
// same boot in more than [leasing.MaxOffers] exchanges is refused for a while: a loader that
// loads itself never ends by itself.
//
// # Raw sockets
//
// With CAP_NET_RAW, clients that have no address yet and want no broadcast get a
// frame, an address is probed by ARP before it is offered for the first time, and
// other DHCP servers are looked for. Without it such replies are broadcast, nothing is
// probed, and only those servers are known that clients are seen to choose. The
// frames bypass the host's firewall.
//
// # Limits
//
// Packets wait in a queue of [leasing.QueueLength], those whose answer waits for the disk apart from the
// others; each queue has one that answers, and up to [workerCount] packets in work while the others of them
// wait. A packet that finds its queue full is dropped and counted. Leases that are granted wait in a queue of the
// same length for one goroutine that writes, and their ACKs for another that sends all of one fsync. At most [probeSlots] of
// them wait for probes. Clients that are no machines of ours but may have a lease hold
// a part of the pool at most ([leasing.GuestShare]), and with BMCs that are known by a prefix never
// the addresses that machines of ours may need ([netboot.Service]); after a restart those of
// before do not count until they renew. What a DECLINE does is bounded ([declineRule]); a
// machine of ours gets an address that rests before it gets none. A reply that the client would misread is not sent: an option
// of more than 255 bytes, which EDK2 reads in part only, or a message that is longer
// than it takes. RENEWING and REBINDING differ in their destination only, and are
// answered alike.
package dhcp
