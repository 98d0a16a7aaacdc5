package dhcp

import (
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot"
	"rackboot/netboot/leasing"
)

// Config is what a Server needs.
type Config struct {
	// Segment is the name that the Resolver, the leases and the metrics use.
	Segment string
	// Conn is where packets come from, for tests and embedding. The server closes
	// it. If nil, Listen and Interface say where to listen.
	Conn net.PacketConn
	// Listen is the UDP address; 0.0.0.0:67 if zero.
	Listen netip.AddrPort
	// BootConn and BootListen are the same for port 4011, where PXE clients ask boot
	// servers. If both are zero, 0.0.0.0:4011 is listened on where Listen is port 67;
	// a port that is taken is logged, since only some clients ask there.
	BootConn   net.PacketConn
	BootListen netip.AddrPort
	// Interface is the interface of the segment. It may be empty only if Listen is
	// a loopback address: unbound, the server would answer on every network of the host.
	Interface string

	// Resolver may be a netboot.Servicer too.
	Resolver netboot.Resolver
	Leases   netboot.LeaseStore[netboot.Lease]
	Evidence netboot.Evidence
	// Granted, if set, is told each lease that was granted or renewed, once it is on
	// disk. It must not block.
	Granted func(netboot.Lease)
	// Ended, if set, is told each address that its client has no more: it released or
	// declined it, or got another. It is told before the address can be another's, or
	// names its client, and must not block. Leases that only run out are not told.
	Ended func(netboot.Lease)
	// Trace, if set, is told each exchange with a client that the resolver was asked
	// about.
	Trace netboot.Trace
	// Notify, if set, is told what somebody should know: other servers, boot loops,
	// addresses in use. It must not block.
	Notify func(netboot.Notice)

	Logger     *slog.Logger          // none if nil
	Registerer prometheus.Registerer // none if nil
	Clock      func() time.Time      // time.Now if nil
}

// Server is the DHCPv4 server of one segment.
type Server struct {
	cfg       Config
	conn      net.PacketConn
	boot      net.PacketConn // port 4011; nil if it is not served
	link      *link          // nil without raw sockets
	pool      *pool
	answers   *leasing.Answers
	records   leasing.Records[netboot.Lease]
	writer    *leasing.Writer[netboot.Lease]
	strangers *strangers
	decliners *leasing.Decliners
	shortages *leasing.Shortages
	probing   *probing
	probes    chan struct{}
	metrics   *metrics
	log       *slog.Logger
	now       func() time.Time
}
