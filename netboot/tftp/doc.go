// Package tftp is a read-only TFTP server for firmware (RFC 1350), with the
// options blksize, tsize, timeout and windowsize (RFC 2347, 2348, 2349, 7440).
//
// # What the agent must provide
//
// One Server per segment, on its interface. [Files] says which file a name is: a
// name of the form b/{token}/{file} is that attempt's; any other is a fixed name,
// which belongs to the open attempt of the machine that the client's address is
// leased to, and that lease is the agent's to look up, in the segment of this
// server. Loaders build names themselves: shim asks for grubx64.efi and
// revocations.efi in its own folder, iPXE for autoexec.ipxe, GRUB for up to eleven
// configurations. All must be answered at once, and a machine of ours that may not
// boot gets denied. [netboot.Evidence] is told of a file whose last block was
// acknowledged; for a fixed name the event has no token, and the agent finds the
// attempt by the address, as OpenFor did.
//
// # What clients need
//
// EDK2 asks for the size first, with options of its own, and ends that transfer
// by ERROR 8: no failure. It refuses an OACK with anything that it did not ask for.
// It waits 4 s and asks six times, so that silence is "later" and an ERROR is "no":
// what is refused for good is refused at once, and a client that finds no room gets
// silence.
//
// # Addresses
//
// Answers come from the address that was asked, each transfer from a port of its
// own, by sockets that are bound to the interface. A request by broadcast or
// multicast is answered from the interface's own address. IPv4 only.
//
// # Limits
//
// [Limits] bounds transfers, blocks in memory, requests and time. One goroutine
// reads requests, and one for each processor carries transfers; no block costs an
// allocation. Files are opened, read and closed by goroutines that end, one at a time
// for each transfer. A repeated ACK is ignored, so that the loss of exactly the first
// block of a window costs a time-out, which follows from the client's round trips and
// is at most [Limits.Retransmit]; a loss within the window costs a round trip.
//
// # Secrets
//
// The token in a name is a secret. Names are never logged and are no label of a
// metric, and an ERROR never says why a file is not there.
package tftp
