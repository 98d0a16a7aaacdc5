package dhcp6

import (
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot"
	"rackboot/netboot/leasing"
)

const (
	portClient = 546 // RFC 8415 section 7.2
	portServer = 547

	// minDUID and maxDUID are type and identifier of a DUID (RFC 8415 section 11.1).
	minDUID = 3
	maxDUID = 130
)

// Config is what a Server needs.
type Config struct {
	// Segment is the name that the Resolver, the leases and the metrics use.
	Segment string
	// Conn is where messages come from, for tests and embedding; all that it gives
	// counts as sent to a multicast address. The server closes it. If nil, Listen and
	// Interface say where to listen.
	Conn net.PacketConn
	// Listen is the UDP address; [::]:547 if zero.
	Listen netip.AddrPort
	// Interface is the interface of the segment. The server joins the groups of DHCPv6
	// servers on it and answers from its link-local address. It may be empty only if
	// Listen is a loopback address, to which only relays can send.
	Interface string
	// DUID names the server to clients and must stay the same (RFC 8415 section 11).
	// The function DUID makes one.
	DUID []byte

	Resolver netboot.Resolver
	Leases   netboot.LeaseStore[netboot.Lease6]
	Evidence netboot.Evidence
	// Granted, if set, is told each lease that was granted or renewed, once it is on
	// disk. It must not block.
	Granted func(netboot.Lease6)
	// Ended, if set, is told each address that its client has no more: it released or
	// declined it, or got another. It is told before the address can be another's, or
	// names its client, and must not block. Leases that only run out are not told.
	Ended func(netboot.Lease6)
	// Trace, if set, is told each exchange with a client that the resolver was asked
	// about.
	Trace netboot.Trace
	// Notify, if set, is told what somebody should know: boot loops, routers that are
	// missing. It must not block.
	Notify func(netboot.Notice)

	Logger     *slog.Logger          // none if nil
	Registerer prometheus.Registerer // none if nil
	Clock      func() time.Time      // time.Now if nil
}

// Server is the DHCPv6 server of one segment.
type Server struct {
	cfg       Config
	port      port
	adverts   adverts // nil without raw sockets
	routers   *routers
	pool      *pool
	answers   *leasing.Answers
	records   leasing.Records[netboot.Lease6]
	shortages *leasing.Shortages
	decliners *leasing.Decliners
	metrics   *metrics
	mac       string // of the interface; empty without one
	log       *slog.Logger
	now       func() time.Time
}
