package dhcp6

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot"
	"rackboot/netboot/guard"
	"rackboot/protocol"
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
	Leases   netboot.LeaseStore6
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
	frozen    *frozen
	promised  *frozen // to clients that are no machines of ours
	loops     *guard.Loops
	shortages *guard.Shortages
	decliners *guard.Decliners
	metrics   *metrics
	log       *slog.Logger
	now       func() time.Time
}

// New checks the configuration, loads the leases and opens the sockets, so that
// nothing is lost between New and Run. Errors: invalid for the configuration,
// conflict if another process listens on the same interface, denied without the
// right to port 547, not_found for the interface, and those of LeaseStore6.Load6.
func New(cfg Config) (*Server, error) {
	const op = "DHCPv6 server"
	if cfg.Segment == "" || cfg.Resolver == nil || cfg.Leases == nil || cfg.Evidence == nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "segment, resolver, leases and evidence are required")
	}
	if len(cfg.DUID) < minDUID || len(cfg.DUID) > maxDUID {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "server DUID has %d bytes, want %d to %d", len(cfg.DUID), minDUID, maxDUID)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	leases, err := cfg.Leases.Load6(cfg.Segment)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeOf(err), op, "loading leases of segment %s: %w", cfg.Segment, err)
	}
	s := &Server{
		cfg:       cfg,
		routers:   newRouters(),
		pool:      newPool(leases, cfg.Clock()),
		frozen:    newFrozen(freezeMax),
		promised:  newFrozen(freezeGuests),
		loops:     guard.NewLoops(),
		shortages: guard.NewShortages(),
		decliners: guard.NewDecliners(),
		log:       guard.Calm(cfg.Logger.With("segment", cfg.Segment)),
		now:       cfg.Clock,
	}
	s.metrics = newMetrics(cfg.Segment, gauged{
		leases:  func() float64 { return float64(s.pool.count(stateLeased, s.now())) },
		resting: func() float64 { return float64(s.pool.count(stateDeclined, s.now())) },
		routers: func() float64 { return float64(len(s.routers.now(s.now()))) },
	})
	if err := s.metrics.all().Register(cfg.Registerer); err != nil {
		return nil, protocol.Errorf(protocol.CodeConflict, op, "registering metrics: %w", err)
	}
	if cfg.Conn != nil {
		s.port = plainPort{cfg.Conn}
		return s, nil
	}
	if s.port, err = listen(cfg.Listen, cfg.Interface); err != nil {
		s.metrics.all().Unregister(cfg.Registerer)
		return nil, err
	}
	if cfg.Interface == "" {
		return s, nil
	}
	if s.adverts, err = listenAdverts(cfg.Interface); err != nil {
		s.adverts = nil
		s.log.Warn("router advertisements are not checked", "err", err, "hint", protocol.HintOf(err))
	}
	return s, nil
}

// Addr is the address that the server listens on.
func (s *Server) Addr() net.Addr { return s.port.LocalAddr() }

// Run answers messages until ctx ends, and then returns nil when no message is in
// work any more. It closes the sockets and takes back the metrics. It may be called
// once. An unavailable error says that the socket broke.
func (s *Server) Run(ctx context.Context) error {
	defer s.metrics.all().Unregister(s.cfg.Registerer)
	s.log.Info("dhcpv6 server started", "address", s.port.LocalAddr().String())
	err := s.loop(ctx)
	s.log.Info("dhcpv6 server stopped")
	return err
}

// port is a UDP socket that says whether a datagram was sent to a multicast address.
type port interface {
	ReadFrom(b []byte) (n int, from netip.AddrPort, multicast bool, err error)
	WriteTo(b []byte, to netip.AddrPort) error
	LocalAddr() net.Addr
	Close() error
}

// plainPort is a PacketConn whose datagrams were all sent to a multicast address.
type plainPort struct{ net.PacketConn }

func (p plainPort) ReadFrom(b []byte) (int, netip.AddrPort, bool, error) {
	n, from, err := p.PacketConn.ReadFrom(b)
	return n, addrPort(from), true, err
}

func (p plainPort) WriteTo(b []byte, to netip.AddrPort) error {
	_, err := p.PacketConn.WriteTo(b, net.UDPAddrFromAddrPort(to))
	return err
}

func addrPort(a net.Addr) netip.AddrPort {
	if u, ok := a.(*net.UDPAddr); ok {
		return u.AddrPort()
	}
	return netip.AddrPort{}
}
