package tftp

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot"
	"rackboot/protocol"
)

// Files opens what boot clients ask for, as [netboot.Files] does for HTTP. Both
// methods answer from local state; a file is complete and verified before it is
// opened. Errors of code not_found, denied and invalid tell the client that there
// is no such file (ERROR 1), any other that it cannot be had now (ERROR 0). It is
// safe for concurrent use.
type Files interface {
	// Open opens a file of the attempt whose token is in the name: b/{token}/{name}.
	Open(token, name string) (*netboot.File, error)
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
	// Listen is the UDP address, of IPv4; 0.0.0.0:69 if zero.
	Listen netip.AddrPort
	// Interface is the interface of the segment. It may be empty only if Listen is
	// a loopback address: unbound, the server would answer on every network of the host.
	Interface string

	Files    Files
	Evidence netboot.Evidence
	Limits   Limits

	Logger     *slog.Logger          // none if nil
	Registerer prometheus.Registerer // none if nil
	Clock      func() time.Time      // of evidence; time.Now if nil
}

// Server is the TFTP server of one segment.
type Server struct {
	cfg     Config
	door    door
	book    *book
	buckets *buckets // the reader's
	metrics *metrics
	log     *slog.Logger
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
		cfg:     cfg,
		book:    newBook(cfg.Limits),
		buckets: newBuckets(cfg.Limits.Rate, cfg.Limits.Burst),
		log:     cfg.Logger.With("segment", cfg.Segment),
	}
	s.metrics = newMetrics(cfg.Segment, s.book)
	if err := s.metrics.register(cfg.Registerer); err != nil {
		return nil, protocol.Errorf(protocol.CodeConflict, op, "registering metrics: %w", err)
	}
	if cfg.Conn != nil {
		s.door = &packetDoor{cfg.Conn, cfg.Open}
		return s, nil
	}
	d, err := listen(cfg.Listen, cfg.Interface)
	if err != nil {
		s.metrics.unregister(cfg.Registerer)
		return nil, err
	}
	s.door = d
	return s, nil
}

// Addr is the address that the server listens on.
func (s *Server) Addr() net.Addr { return s.door.LocalAddr() }

// Run answers requests until ctx ends. Transfers that run then get a few seconds
// to end; after that the client is told, and Run returns nil. It closes the socket
// and takes back the metrics. It may be called once. An unavailable error says that
// the socket broke.
func (s *Server) Run(ctx context.Context) error {
	defer s.metrics.unregister(s.cfg.Registerer)
	s.log.Info("tftp server started", "address", s.door.LocalAddr().String())
	err := s.loop(ctx)
	s.log.Info("tftp server stopped")
	return err
}
