package tftp

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot"
	"rackboot/netboot/guard"
	"rackboot/protocol"
)

// Files opens what boot clients ask for, as [netboot.Files] does for HTTP. Both
// methods answer from local state; a file is complete and verified before it is
// opened. Errors of code not_found, denied and invalid tell the client that there
// is no such file (ERROR 1), any other that it cannot be had now (ERROR 0). It is
// safe for concurrent use.
type Files interface {
	// Open opens a file of the attempt whose token is in the name: b/{token}/{name}.
	// remote says only which of the agent's addresses the client can reach.
	Open(remote netip.Addr, token, name string) (*netboot.File, error)
	// OpenFor opens a file by a fixed name (grubx64.efi, autoexec.ipxe), for the
	// machine that has the lease of the address. The name is without leading slash,
	// with slashes between its parts, and none of them is "." or "..".
	OpenFor(remote netip.Addr, name string) (*netboot.File, error)
}

// Config is what a Server needs.
type Config struct {
	// Segment is the name that metrics and log use.
	Segment string
	// Conn is where requests come from, for tests and embedding; the server closes it.
	// Open then opens the socket of a transfer, which needs an address of its own. If
	// Conn is nil, Listen and Interface say where to listen.
	Conn net.PacketConn
	Open func(local netip.Addr) (net.PacketConn, error)
	// Listen is the UDP address of IPv4, and Listen6 that of IPv6, such as [::]:69; those
	// that are valid are listened on, and 0.0.0.0:69 if both are zero.
	Listen  netip.AddrPort
	Listen6 netip.AddrPort
	// Interface is the interface of the segment. It may be empty only if the addresses
	// are loopback ones: unbound, the server would answer on every network of the host.
	Interface string

	Files    Files
	Evidence netboot.Evidence
	Limits   Limits
	// Trace, if set, is told each transfer when it ends, and each request for a file that
	// is not there.
	Trace netboot.Trace

	Logger     *slog.Logger          // none if nil
	Registerer prometheus.Registerer // none if nil
	Clock      func() time.Time      // of evidence; time.Now if nil
}

// Server is the TFTP server of one segment.
type Server struct {
	cfg   Config
	gates []gate // that of Listen, and that of Listen6
	book  *book
	// admitting is held while a request is compared with those that run.
	admitting sync.Mutex
	carriers  []*carrier
	transfers sync.WaitGroup // from admission until they are closed
	stopping  atomic.Bool    // who waits has no turn any more
	pieces    *sync.Pool
	metrics   *metrics
	log       *slog.Logger
}

// New checks the configuration and opens the socket, so that nothing is lost
// between New and Run. Errors: invalid for the configuration, conflict if another
// process listens on the same interface and port, denied without the right to the
// port, not_found without the interface.
func New(cfg Config) (*Server, error) {
	const op = "TFTP server"
	if cfg.Segment == "" || cfg.Files == nil || cfg.Evidence == nil || (cfg.Conn == nil) != (cfg.Open == nil) {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "segment, files and evidence are required, and conn and open only together")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	var err error
	if cfg.Limits, err = cfg.Limits.complete(cfg.Interface); err != nil {
		return nil, err
	}
	s := &Server{
		cfg:  cfg,
		book: newBook(cfg.Limits),
		log:  guard.Calm(cfg.Logger.With("segment", cfg.Segment)), pieces: newPieces(),
	}
	s.metrics = newMetrics(cfg.Segment, s.book)
	if err := s.metrics.all().Register(cfg.Registerer); err != nil {
		return nil, protocol.Errorf(protocol.CodeConflict, op, "registering metrics: %w", err)
	}
	if err := s.open(); err != nil {
		s.metrics.all().Unregister(cfg.Registerer)
		return nil, err
	}
	return s, nil
}

// open opens the sockets, or none.
func (s *Server) open() error {
	if s.cfg.Conn != nil {
		s.enter(&packetDoor{PacketConn: s.cfg.Conn, opener: s.cfg.Open})
		return nil
	}
	at, at6 := s.cfg.Listen, s.cfg.Listen6
	if !at.IsValid() && !at6.IsValid() {
		at = netip.AddrPortFrom(netip.IPv4Unspecified(), Port)
	}
	if at.IsValid() && !at.Addr().Is4() || at6.IsValid() && (!at6.Addr().Is6() || at6.Addr().Is4In6()) {
		return protocol.Errorf(protocol.CodeInvalid, "TFTP listen", "%s is not an IPv4 address, or %s not an IPv6 one", at, at6)
	}
	for _, at := range []netip.AddrPort{at, at6} {
		if !at.IsValid() {
			continue
		}
		d, err := listen(at, s.cfg.Interface)
		if err != nil {
			for _, open := range s.gates {
				_ = open.Close()
			}
			return err
		}
		s.enter(d)
	}
	return nil
}

func (s *Server) enter(d door) {
	s.gates = append(s.gates, gate{d, newBuckets(s.cfg.Limits.Rate, s.cfg.Limits.Burst)})
}

// Addr is the address that the server listens on; that of Listen where there are two.
func (s *Server) Addr() net.Addr { return s.gates[0].LocalAddr() }

// Addr6 is that of Listen6; nil without it.
func (s *Server) Addr6() net.Addr {
	if !s.cfg.Listen6.IsValid() {
		return nil
	}
	return s.gates[len(s.gates)-1].LocalAddr()
}

// Run answers requests until ctx ends. Transfers that run then get a few seconds
// to end; after that the client is told, and Run returns nil. It closes the socket
// and takes back the metrics. It may be called once. An unavailable error says that
// a socket broke.
func (s *Server) Run(ctx context.Context) error {
	defer s.metrics.all().Unregister(s.cfg.Registerer)
	for _, g := range s.gates {
		s.log.Info("tftp server started", "address", g.LocalAddr().String())
	}
	err := s.loop(ctx)
	s.log.Info("tftp server stopped")
	return err
}
