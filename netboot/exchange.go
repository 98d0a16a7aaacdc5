package netboot

import (
	"net/netip"
	"time"

	"rackboot/protocol"
)

// Exchange is one request of a boot client with what came of it, for people who ask why
// a machine did not boot. It decides nothing. Fields that its source does not name are
// empty. There is no token in what is printed of it: Token and Remote only say whose it is.
type Exchange struct {
	Source protocol.TraceSource // dhcp, tftp or http
	At     time.Time            // of the request
	// Asked is the DHCP message type, the HTTP method, or what became of the TFTP
	// transfer.
	Asked string

	// Of DHCP: who asked, with the address that it holds or is offered; how that was
	// answered, by what decision, with which file.
	Client   protocol.BootClient
	Answered string
	Decision protocol.BootAnswer
	V6       bool

	// Of TFTP and HTTP: the attempt's token, empty for a fixed name, and the client's
	// address; the file, the status of HTTP, the range that was asked for, the bytes that
	// were sent and how long it took. Report is a report and not a file.
	Token  string
	Remote netip.Addr
	File   string
	Status int
	Range  string
	Bytes  int64
	Took   time.Duration
	Report bool
}

// Trace takes exchanges. It never blocks; it is safe for concurrent use. Nil takes none.
type Trace func(Exchange)
