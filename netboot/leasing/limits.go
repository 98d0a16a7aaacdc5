package leasing

import "time"

const (
	// QueueLength is a burst of power-ons of several racks.
	QueueLength = 1024
	// PacketSize is larger than any DHCP message on Ethernet; what is longer is cut
	// and refused by the parser.
	PacketSize = 2048
	// StoreTimeout bounds a lease write: a later answer finds no client.
	StoreTimeout = 2 * time.Second
	// ReadRetry is the pause after a read error that may pass (interface down).
	ReadRetry = 100 * time.Millisecond
	// ReadErrors in a row mean that the socket is broken.
	ReadErrors = 100
	// receiveBuffer is what the kernel keeps, in bytes, until a packet is read: a
	// burst of power-ons while the processors are busy. Its own default holds some 200
	// packets; it gives no more than net.core.rmem_max allows.
	receiveBuffer = 4 << 20
)
