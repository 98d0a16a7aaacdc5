package fleet

import (
	"cmp"
	"context"
	"io"
	"net"
	"net/netip"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// MaxRacks bounds the racks of a fleet.
const MaxRacks = 5000

// The bounds of a measurement: holds in all, and news per second.
const (
	maxHolds = 10_000
	maxNews  = 10_000
)

// Config is a fleet, and what is to be measured.
type Config struct {
	Hub Hub
	// Dir keeps keys, certificates and what agents have on disk, a folder for each rack.
	Dir string
	// Racks are 1 to MaxRacks, with 1 to message.MaxServersPerShard Servers each.
	Racks, Servers int
	// Skip is how many racks come before the first: those of a fleet beside it, at the same hub.
	Skip int
	// Image is what servers are claimed for; empty is no claims.
	Image string
	// Seed decides what chance would: which racks, servers and boots something happens to.
	Seed uint64
	// From are addresses of this host from which agents connect, each from its own, as racks
	// have their own; the zero value leaves it to the host.
	From netip.Prefix
	// ReportEvery is how often an agent reports without news; resource.ReportEvery by default.
	ReportEvery time.Duration
	Pace        Pace
	// Within bounds the wait until all racks are in step; 10 m by default.
	Within time.Duration
	Load   Load

	Out  io.Writer
	JSON bool // of what is written

	// Settle is the racks' settle window, and Backoff the longest pause between two
	// connections of an agent; 0 are the defaults. For tests.
	Settle, Backoff time.Duration
	// Dial replaces the dialler of the link, for tests.
	Dial func(ctx context.Context, rack, address string) (net.Conn, error)
}

// Hub is the hub of a fleet.
type Hub struct {
	// Client may do everything at the hub.
	Client *api.Client
	// URL and CA, in PEM, are what agents join with.
	URL string
	CA  []byte
}

// Load is what is measured, and beside what.
type Load struct {
	For    time.Duration // how long is measured
	News   float64       // changes of a server per second, over the fleet
	Holds  int           // how many are placed and released meanwhile
	HubPID int           // the hub's process; 0 is not known
}

// Pace is how long what happens to a server takes.
type Pace struct {
	Post    time.Duration // from power-on until firmware took the override
	Install time.Duration // from then until the image reports the end
	Stop    time.Duration // from the order until Off is read
}

func (c *Config) check() error {
	const op = "make a fleet"
	bad := func(format string, args ...any) error {
		return protocol.Errorf(protocol.CodeInvalid, op, format, args...)
	}
	c.ReportEvery, c.Within = cmp.Or(c.ReportEvery, resource.ReportEvery), cmp.Or(c.Within, 10*time.Minute)
	if c.Pace == (Pace{}) {
		c.Pace = Pace{Post: 2 * time.Second, Install: 5 * time.Second, Stop: time.Second}
	}
	switch {
	case c.Racks < 1 || c.Racks > MaxRacks:
		return bad("%d is not 1 to %d racks", c.Racks, MaxRacks)
	case c.Skip < 0 || c.Skip > MaxRacks-c.Racks:
		return bad("%d racks to skip and %d are not 0 to %d", c.Skip, c.Racks, MaxRacks)
	case c.Servers < 1 || c.Servers > message.MaxServersPerShard:
		return bad("%d is not 1 to %d servers of a rack", c.Servers, message.MaxServersPerShard)
	case c.ReportEvery < time.Second || c.ReportEvery > time.Hour:
		return bad("%s between two reports is not 1 s to 1 h", c.ReportEvery)
	case c.Load.News < 0 || c.Load.News > maxNews:
		return bad("%g news per second are not 0 to %d", c.Load.News, maxNews)
	case c.Load.Holds < 0 || c.Load.Holds > maxHolds:
		return bad("%d is not 0 to %d holds", c.Load.Holds, maxHolds)
	case c.Load.For < 0 || c.Within < 0:
		return bad("a time is negative")
	case c.Dir == "":
		return bad("no folder for keys and certificates")
	}
	if _, err := usageOf(c.Load.HubPID); err != nil {
		return err
	}
	return c.checkFrom()
}

// checkFrom looks whether there is an address for each rack, and whether they are this
// host's.
func (c *Config) checkFrom() error {
	const op = "make a fleet"
	if !c.From.IsValid() {
		return nil
	}
	if bits := c.From.Addr().BitLen() - c.From.Bits(); bits < 31 && 1<<bits < c.Skip+c.Racks+2 {
		return protocol.Errorf(protocol.CodeInvalid, op, "%s has fewer than %d addresses for hosts", c.From, c.Skip+c.Racks)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(c.From.Masked().Addr().Next().String(), "0"))
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalid, op, "no connection can be made from %s: %w", c.From, err).
			WithHint("give addresses that this host has, such as 127.80.0.0/16 for a hub on loopback")
	}
	return l.Close()
}

// from is the address of each rack's agent; nil without Config.From.
func (c *Config) from() []net.Addr {
	out := make([]net.Addr, c.Racks)
	if !c.From.IsValid() {
		return out
	}
	at := c.From.Masked().Addr()
	for range c.Skip {
		at = at.Next()
	}
	for i := range out {
		at = at.Next()
		out[i] = net.TCPAddrFromAddrPort(netip.AddrPortFrom(at, 0))
	}
	return out
}
