package tftp

import (
	"net"
	"net/netip"
	"time"

	"rackboot/protocol"
)

// Limits bound what clients can make a server do. Zero is the default of each.
type Limits struct {
	// Transfers and PerClient are how many transfers run at once, in all (1024) and for
	// one client address (8). As many requests as Transfers wait for one to end, and count
	// for PerClient. A request beyond gets no answer, and the client repeats it.
	Transfers, PerClient int
	// Buffered is how many bytes of blocks are in memory (32 MiB). As it fills, windows
	// get smaller, and at last requests get no answer.
	Buffered int
	// Blksize is the largest block that is agreed to: 1468 bytes, what EDK2 asks for
	// and what fits an Ethernet frame. More helps only where the interface's MTU is
	// larger; a block never needs two frames. Over IPv6 it is 20 bytes less.
	Blksize int
	// Rate and Burst are the requests of a client address: how many a second (64) and
	// how many at once (256, more than GRUB's modules). Those beyond get no answer.
	Rate, Burst int
	// Retransmit is how long the client may take to answer at most before a window is sent
	// again (1 s, so that EDK2's 4 s never run out); less where its round trips are known.
	// A client that says nothing new for Tries (5) times as long and once more is given up.
	// A client's timeout option takes the place of Retransmit, and is no less.
	Retransmit time.Duration
	Tries      int
	// Answer is how long a client may take to acknowledge anything at all (30 s), and
	// Deadline how long a transfer may last (30 minutes).
	Answer, Deadline time.Duration
}

const (
	// udpOverhead is the headers of IPv4, UDP and DATA.
	udpOverhead = 20 + 8 + headerSize
	// overhead6 is how much longer the header of IPv6 is.
	overhead6 = 20
	// edk2Blksize is an Ethernet frame without udpOverhead.
	edk2Blksize = 1500 - udpOverhead
)

// complete fills in the defaults. device, if any, is the interface whose MTU
// bounds the blocks.
func (l Limits) complete(device string) (Limits, error) {
	const op = "TFTP server"
	for _, f := range []struct {
		v   *int
		def int
	}{
		{&l.Transfers, 1024},
		{&l.PerClient, 8},
		{&l.Buffered, 32 << 20},
		{&l.Blksize, edk2Blksize},
		{&l.Rate, 64},
		{&l.Burst, 256},
		{&l.Tries, 5},
	} {
		if *f.v == 0 {
			*f.v = f.def
		}
		if *f.v < 0 {
			return l, protocol.Errorf(protocol.CodeInvalid, op, "a limit is negative")
		}
	}
	for _, f := range []struct {
		v   *time.Duration
		def time.Duration
	}{
		{&l.Retransmit, time.Second},
		{&l.Answer, 30 * time.Second},
		{&l.Deadline, 30 * time.Minute},
	} {
		if *f.v == 0 {
			*f.v = f.def
		}
		if *f.v < 0 {
			return l, protocol.Errorf(protocol.CodeInvalid, op, "a limit is negative")
		}
	}
	if l.Blksize < minBlksize || l.Blksize > maxBlksize {
		return l, protocol.Errorf(protocol.CodeInvalid, op, "the largest block is %d bytes; RFC 2348 allows %d to %d", l.Blksize, minBlksize, maxBlksize)
	}
	if device == "" {
		return l, nil
	}
	i, err := net.InterfaceByName(device)
	if err != nil {
		return l, protocol.Errorf(protocol.CodeNotFound, op, "no interface %q: %w", device, err).
			WithHint("check the interface of the segment in the agent's local file")
	}
	l.Blksize = max(minBlksize, min(l.Blksize, i.MTU-udpOverhead))
	return l, nil
}

// ceiling is the largest block for a client.
func (l Limits) ceiling(client netip.Addr) int {
	if client.Is6() {
		return max(minBlksize, l.Blksize-overhead6)
	}
	return l.Blksize
}
