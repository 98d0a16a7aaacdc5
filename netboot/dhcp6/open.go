package dhcp6

import (
	"context"
	"log/slog"
	"net"
	"time"

	"rackboot/netboot"
	"rackboot/netboot/guard"
	"rackboot/netboot/leasing"
	"rackboot/protocol"
)

// New checks the configuration, loads the leases and opens the sockets, so that
// nothing is lost between New and Run. Errors: invalid for the configuration,
// conflict if another process listens on the same interface, denied without the
// right to port 547, not_found for the interface, and those of LeaseStore.Load.
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
	records := leasing.Records[netboot.Lease6]{Store: cfg.Leases}
	leases, err := records.Load(op, cfg.Segment)
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg:       cfg,
		records:   records,
		routers:   newRouters(),
		pool:      newPool(leases, cfg.Clock()),
		shortages: leasing.NewShortages(),
		decliners: leasing.NewDecliners(),
		log:       guard.Calm(cfg.Logger.With("segment", cfg.Segment)),
		now:       cfg.Clock,
	}
	s.metrics = newMetrics(s)
	s.answers = leasing.NewAnswers(leasing.Config{
		Segment: cfg.Segment, V6: true, Resolver: cfg.Resolver, Evidence: cfg.Evidence, Trace: cfg.Trace, Notify: cfg.Notify,
		Loops: s.metrics.Loops, Spoofed: s.metrics.spoofed, Logger: s.log, Clock: s.now,
	})
	if err := s.metrics.Register(cfg.Registerer); err != nil {
		return nil, protocol.Errorf(protocol.CodeConflict, op, "registering metrics: %w", err)
	}
	if cfg.Conn != nil {
		s.port = plainPort{cfg.Conn}
		return s, nil
	}
	if s.port, err = listen(cfg.Listen, cfg.Interface); err != nil {
		s.metrics.Unregister(cfg.Registerer)
		return nil, err
	}
	if cfg.Interface == "" {
		return s, nil
	}
	s.mac = hardware(cfg.Interface)
	if s.adverts, err = listenAdverts(cfg.Interface); err != nil {
		s.adverts = nil
		s.log.Warn("router advertisements are not checked, and spoofed neighbours not seen", "err", err, "hint", protocol.HintOf(err))
	}
	return s, nil
}

// Addr is the address that the server listens on.
func (s *Server) Addr() net.Addr { return s.port.LocalAddr() }

// Run answers messages until ctx ends, and then returns nil when no message is in
// work any more. It closes the sockets and takes back the metrics. It may be called
// once. An unavailable error says that the socket broke.
func (s *Server) Run(ctx context.Context) error {
	defer s.metrics.Unregister(s.cfg.Registerer)
	s.log.Info("dhcpv6 server started", "address", s.port.LocalAddr().String())
	err := s.loop(ctx)
	s.log.Info("dhcpv6 server stopped")
	return err
}
