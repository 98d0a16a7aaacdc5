package dhcp

import "time"

const (
	// workerCount is how many packets are in work at once. Workers wait for the
	// lease store, and their writes share one fsync: more of them, larger batches. A
	// slow fsync must leave some for those who only want an offer; 64 do not, with
	// 2,500 exchanges a second on a busy disk.
	workerCount = 256
	// queueLength is a burst of power-ons of several racks.
	queueLength = 1024
	// packetSize is larger than any DHCP message on Ethernet; what is longer is cut
	// and refused by the parser.
	packetSize = 2048
	// storeTimeout bounds a lease write: a later ACK finds no client.
	storeTimeout = 2 * time.Second
	// readRetry is the pause after a read error that may pass (interface down).
	readRetry = 100 * time.Millisecond
	// readErrors in a row mean that the socket is broken.
	readErrors = 100
)
