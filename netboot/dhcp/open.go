package dhcp

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"rackboot/netboot"
	"rackboot/netboot/guard"
	"rackboot/netboot/leasing"
	"rackboot/protocol"
)

// New checks the configuration, loads the leases and opens the socket, so that
// nothing is lost between New and Run. Errors: invalid for the configuration,
// conflict if another process listens on the same interface, denied without the
// right to port 67, and those of LeaseStore.Load.
func New(cfg Config) (*Server, error) {
	const op = "DHCP server"
	if cfg.Segment == "" || cfg.Resolver == nil || cfg.Leases == nil || cfg.Evidence == nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "segment, resolver, leases and evidence are required")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	records := leasing.Records[netboot.Lease]{Store: cfg.Leases}
	leases, err := records.Load(op, cfg.Segment)
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg:       cfg,
		records:   records,
		writer:    leasing.NewWriter(records),
		pool:      newPool(leases),
		strangers: newStrangers(),
		decliners: leasing.NewDecliners(),
		shortages: leasing.NewShortages(),
		probing:   newProbing(),
		probes:    make(chan struct{}, probeSlots),
		log:       guard.Calm(cfg.Logger.With("segment", cfg.Segment)),
		now:       cfg.Clock,
	}
	s.metrics = newMetrics(s)
	s.answers = leasing.NewAnswers(leasing.Config{
		Segment: cfg.Segment, Resolver: cfg.Resolver, Evidence: cfg.Evidence, Trace: cfg.Trace, Notify: cfg.Notify,
		Loops: s.metrics.Loops, Spoofed: s.metrics.spoofed, Logger: s.log, Clock: s.now,
	})
	if err := s.metrics.Register(cfg.Registerer); err != nil {
		return nil, protocol.Errorf(protocol.CodeConflict, op, "registering metrics: %w", err)
	}
	if err := s.openSockets(); err != nil {
		s.metrics.Unregister(cfg.Registerer)
		return nil, err
	}
	return s, nil
}

// openSockets opens what the configuration does not give. Only the DHCP port is
// indispensable.
func (s *Server) openSockets() (err error) {
	cfg := s.cfg
	if s.conn = cfg.Conn; s.conn == nil {
		if s.conn, err = listen(cfg.Listen, cfg.Interface); err != nil {
			return err
		}
	}
	at := cfg.BootListen
	if !at.IsValid() && cfg.Conn == nil && (!cfg.Listen.IsValid() || cfg.Listen.Port() == portServer) {
		at = netip.AddrPortFrom(netip.IPv4Unspecified(), portBoot)
	}
	if s.boot = cfg.BootConn; s.boot == nil && at.IsValid() {
		conn, err := listen(at, cfg.Interface)
		if err != nil {
			s.log.Warn("port of PXE boot servers is not served", "address", at.String(), "err", err, "hint", protocol.HintOf(err))
		} else {
			s.boot = conn
		}
	}
	if cfg.Conn != nil || cfg.Interface == "" {
		return nil
	}
	if s.link, err = openLink(cfg.Interface); err != nil {
		s.log.Warn("no raw sockets: replies to clients without an address are broadcast, addresses are not probed, other DHCP servers not looked for, spoofed ARP not seen",
			"err", err, "hint", protocol.HintOf(err))
		return nil
	}
	s.link.heard = s.uses
	return nil
}

// Addr is the address that the server listens on.
func (s *Server) Addr() net.Addr { return s.conn.LocalAddr() }

// Run answers packets until ctx ends, and then returns nil when no packet is in
// work any more. It closes the sockets and takes back the metrics. It may be
// called once. An unavailable error says that the DHCP socket broke.
func (s *Server) Run(ctx context.Context) error {
	defer s.metrics.Unregister(s.cfg.Registerer)
	s.log.Info("dhcp server started", "address", s.conn.LocalAddr().String())
	err := s.loop(ctx)
	s.log.Info("dhcp server stopped")
	return err
}
