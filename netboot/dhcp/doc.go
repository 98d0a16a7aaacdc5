// Package dhcp is the DHCPv4 server of one boot segment. It gives stable
// addresses to the machines that its [netboot.Resolver] knows, a boot URL to UEFI
// HTTP clients that may boot, and a quick refusal, in the client's own form, to
// boot clients that may not. Machines that are not known get silence.
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
//
// # Order of effects
//
// A REQUEST is answered with an ACK only after [netboot.LeaseStore] has the lease
// on disk. Offers are held in memory only, for [offerHold]; an address is chosen
// by a hash of the MAC, so that a restart between OFFER and REQUEST most often
// finds the same one.
//
// # The answer is frozen
//
// UEFI HTTP boot takes address and URL from the OFFER and does not parse the ACK.
// The resolver's answer is therefore kept per MAC, class and xid for
// [freezeFor]; silence is not kept, because nothing was promised.
//
// # Limits
//
// Packets wait in a queue of [queueLength] for one of [workerCount] workers; a
// packet that finds the queue full is dropped and counted. Unicast to a client
// that has no address yet is not possible through a UDP socket, so that such a
// reply is broadcast.
package dhcp
